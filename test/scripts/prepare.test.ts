// What `npm start` and the other scripts find out before they begin.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/root.ts";

test("a finished build is known by the file that is written last: one that was stopped is begun again", () => {
  const mark = "dist/web/index.html";
  expect(readFileSync(join(ROOT, "scripts/prepare.mjs"), "utf8")).toContain(`"${mark}"`);
  const markMs = statSync(join(ROOT, mark)).mtimeMs;
  const later = filesBelow("dist").filter((file) => statSync(join(ROOT, file)).mtimeMs > markMs);
  expect(later).toEqual([]);
});

function filesBelow(directory: string): string[] {
  return readdirSync(join(ROOT, directory), { withFileTypes: true }).flatMap((found) => {
    const path = join(directory, found.name);
    return found.isDirectory() ? filesBelow(path) : [path];
  });
}
