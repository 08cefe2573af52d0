// Normalizes a path from the model, without file system access.
import { posix } from "node:path";
import { ToolError } from "../tools/types.ts";

const MAX_PATH_CHARS = 4096;
const MAX_DEPTH = 256;

/** The components below the root. `roots`: absolute paths of the root. Throws `path_outside`, `bad_path`. */
export function normalizePath(path: string, roots: readonly string[]): string[] {
  if (path === "") throw new ToolError("bad_path", 'the path is empty; "." is the working directory');
  if (path.includes("\0")) throw new ToolError("bad_path", "the path contains a NUL character");
  if (path.length > MAX_PATH_CHARS) {
    throw new ToolError("bad_path", `the path is longer than ${MAX_PATH_CHARS} characters`);
  }
  if (path === "~" || path.startsWith("~/")) {
    throw outsideError(path, '"~" is not expanded; a directory of that name is "./~"');
  }
  const names = splitPath(path.startsWith("/") ? stripRoot(path, roots) : posix.normalize(path));
  if (names[0] === "..") throw outsideError(path);
  if (names.length > MAX_DEPTH) throw new ToolError("bad_path", `${path} has more than ${MAX_DEPTH} parts`);
  return names;
}

export function splitPath(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

export function joinPath(names: readonly string[]): string {
  return names.join("/") || ".";
}

export function outsideError(path: string, hint = "use a path within it, relative or absolute"): ToolError {
  return new ToolError("path_outside", `${path} is outside the working directory; ${hint}`);
}

function stripRoot(path: string, roots: readonly string[]): string {
  const plain = posix.normalize(path);
  for (const root of roots) {
    if (plain === root || plain === `${root}/`) return ".";
    const prefix = root.endsWith("/") ? root : `${root}/`;
    if (plain.startsWith(prefix)) return plain.slice(prefix.length);
  }
  throw outsideError(path);
}
