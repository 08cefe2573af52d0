// A hash of everything that determines how the UIs look. Stored beside the pictures, it shows whether they are current.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../prepare.mjs";

export const PICTURES = join(root, "docs/images");
export const LIST = join(PICTURES, "taken-from.json");
const SOURCES = ["web", "src/tui", "src/client/view", "scripts/screenshots"];
/** Does not affect the look. */
const OTHER = /\.md$|tsconfig\.json$|\.d\.mts$|web\/src\/api\//;

/** A hash each, so that the changed part can be named. */
export function takenFrom() {
  return Object.fromEntries(SOURCES.map((name) => [name, hashOf(join(root, name))]));
}

/** @param {string} directory */
function hashOf(directory) {
  const hash = createHash("sha256");
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !OTHER.test(join(entry.parentPath, entry.name)))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of files)
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  return hash.digest("hex").slice(0, 16);
}
