// What a path of the model means, before anything is looked up. Pure.
import { posix } from "node:path";
import { ToolError } from "../tools/types.ts";

const MAX_PATH_CHARS = 4096;
const MAX_DEPTH = 256;

/** The components below the root. `roots`: the absolute paths that stand for it. Throws `path_outside`, `bad_path`. */
export function componentsOf(path: string, roots: readonly string[]): string[] {
  if (path === "") throw new ToolError("bad_path", 'the path is empty; "." is the working directory');
  if (path.includes("\0")) throw new ToolError("bad_path", "the path contains a NUL character");
  if (path.length > MAX_PATH_CHARS) {
    throw new ToolError("bad_path", `the path is longer than ${MAX_PATH_CHARS} characters`);
  }
  if (path === "~" || path.startsWith("~/")) {
    throw outside(path, '"~" is not expanded; a directory of that name is "./~"');
  }
  const names = splitPath(path.startsWith("/") ? belowRoot(path, roots) : posix.normalize(path));
  if (names[0] === "..") throw outside(path);
  if (names.length > MAX_DEPTH) throw new ToolError("bad_path", `${path} has more than ${MAX_DEPTH} parts`);
  return names;
}

export function splitPath(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

export function joinPath(names: readonly string[]): string {
  return names.join("/") || ".";
}

export function outside(path: string, hint = "use a path below it, relative or absolute"): ToolError {
  return new ToolError("path_outside", `${path} is outside the working directory; ${hint}`);
}

function belowRoot(path: string, roots: readonly string[]): string {
  const plain = posix.normalize(path);
  for (const root of roots) {
    if (plain === root || plain === `${root}/`) return ".";
    const prefix = root.endsWith("/") ? root : `${root}/`;
    if (plain.startsWith(prefix)) return plain.slice(prefix.length);
  }
  throw outside(path);
}
