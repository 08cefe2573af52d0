// Paths as git has them: bytes. In memory they are strings with one character for each byte, so that names that are not UTF-8
// stay apart and can be compared; on the wire they are text.

/** Relative to the root of the work tree, one character per byte. */
export type RawPath = string;

export interface ShownPath {
  path: string;
  /** The bytes, if they are not UTF-8. */
  path_b64?: string;
}

export function toBytes(path: RawPath): Buffer {
  return Buffer.from(path, "latin1");
}

export function toRawPath(bytes: Uint8Array): RawPath {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

export function toShownPath(path: RawPath): ShownPath {
  const bytes = toBytes(path);
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes)
    ? { path: text }
    : { path: text, path_b64: bytes.toString("base64") };
}

export function parseShownPath({ path, path_b64 }: ShownPath): RawPath {
  return toRawPath(path_b64 === undefined ? Buffer.from(path, "utf8") : Buffer.from(path_b64, "base64"));
}

/** For calls of `node:fs`. */
export function toDiskPath(root: string, path: RawPath): Buffer {
  return Buffer.concat([Buffer.from(`${root === "/" ? "" : root}/`, "utf8"), toBytes(path)]);
}

/** The fields of `-z` output. */
export function splitFields(output: Buffer): RawPath[] {
  const fields = output.toString("latin1").split("\0");
  fields.pop();
  return fields;
}

const SLICE = 5000;

/** The same for lists that may be long, in slices, so that no other session waits. */
export async function splitLongFields(output: Buffer): Promise<RawPath[]> {
  const fields: RawPath[] = [];
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0, at);
    if (end === -1) break;
    fields.push(output.toString("latin1", at, end));
    at = end + 1;
    if (fields.length % SLICE === 0) await yieldToOthers();
  }
  return fields;
}

/** The input of `-z --stdin`. */
export async function joinLongFields(paths: readonly RawPath[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let at = 0; at < paths.length; at += SLICE) {
    const slice = paths.slice(at, at + SLICE);
    parts.push(Buffer.from(slice.map((path) => `${path}\0`).join(""), "latin1"));
    if (at > 0) await yieldToOthers();
  }
  return Buffer.concat(parts);
}

function yieldToOthers(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Its directories, nearest first. */
export function listParents(path: RawPath): RawPath[] {
  const parents: RawPath[] = [];
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1))
    parents.push(path.slice(0, at));
  return parents;
}
