// Reads the content of files from trees, several in one call of git, limited in size.
import { type Blob, GITLINK_MODE } from "./compare.ts";
import { type RawPath, splitFields } from "./paths.ts";
import type { PrivateGitDir } from "./private-dir.ts";
import { gitError } from "./run.ts";

const TIMEOUT_MS = 60_000;

/** The files of a tree. Throws `git_failed`. */
export async function listTree(dir: PrivateGitDir, tree: string): Promise<Map<RawPath, Blob>> {
  const args = ["ls-tree", "-r", "-z", "--full-tree", tree];
  const entries = splitFields(await dir.expect({ args, timeoutMs: TIMEOUT_MS }));
  return new Map(
    entries.map((entry) => {
      const at = entry.indexOf("\t");
      const [mode = "", , oid = ""] = entry.slice(0, at).split(" ");
      return [entry.slice(at + 1), { mode, oid }];
    }),
  );
}

/** The sizes of objects; those that no longer exist are absent. Throws `git_failed`. */
export async function readSizes(dir: PrivateGitDir, oids: Iterable<string>): Promise<Map<string, number>> {
  const wanted = [...new Set(oids)];
  if (wanted.length === 0) return new Map();
  const args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
  const input = Buffer.from(wanted.map((oid) => `${oid}\n`).join(""));
  const lines = (await dir.expect({ args, input, timeoutMs: TIMEOUT_MS })).toString("latin1").split("\n");
  const sizes = lines.map((line): [string, number] => {
    const [oid = "", size = ""] = line.split(" ");
    return [oid, Number(size)];
  });
  return new Map(sizes.filter(([, size]) => Number.isInteger(size)));
}

/** The content of files, in order, read in groups of about `groupBytes`. Throws `git_failed`. */
export async function* readBlobs(
  dir: PrivateGitDir,
  wanted: readonly { path: RawPath; want: Blob }[],
  groupBytes: number,
): AsyncGenerator<{ path: RawPath; want: Blob; bytes: Buffer }> {
  const files = wanted.filter(({ want }) => want.mode !== GITLINK_MODE);
  const sizes = await readSizes(
    dir,
    files.map(({ want }) => want.oid),
  );
  for (let at = 0; at < files.length; ) {
    const group: typeof files = [];
    let bytes = 0;
    do {
      const file = files[at];
      if (file === undefined) break;
      group.push(file);
      bytes += sizes.get(file.want.oid) ?? 0;
      at += 1;
    } while (bytes < groupBytes);
    yield* readGroup(dir, group, bytes);
  }
}

async function* readGroup(
  dir: PrivateGitDir,
  group: readonly { path: RawPath; want: Blob }[],
  bytes: number,
): AsyncGenerator<{ path: RawPath; want: Blob; bytes: Buffer }> {
  const order = {
    args: ["cat-file", "--batch"],
    timeoutMs: TIMEOUT_MS,
    maxBytes: bytes + 200 * group.length,
  };
  const input = Buffer.from(group.map(({ want }) => `${want.oid}\n`).join(""));
  const output = await dir.expect({ ...order, input });
  let at = 0;
  for (const { path, want } of group) {
    const end = output.indexOf(10, at);
    const [oid, , size = ""] = output.toString("latin1", at, end).split(" ");
    const length = Number(size);
    if (oid !== want.oid || !Number.isInteger(length)) throw gitError(order, `has no object ${want.oid}`);
    yield { path, want, bytes: output.subarray(end + 1, end + 1 + length) };
    at = end + 1 + length + 1;
  }
}
