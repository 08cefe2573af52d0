// The first checkpoint of a large repository would read every file. Where nothing converts content between the work tree and
// the index, git's own index already knows what is in the unchanged files, so a copy of it is the start of ours.
import { copyFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { type RawPath, splitFields, toDiskPath } from "./paths.ts";
import type { PrivateGitDir } from "./private-dir.ts";
import { mayConvertContent } from "./settings.ts";

/** `H 100644 <oid> 0\t<path>`: tracked, no flags, not in conflict. Anything else needs a look at the files. */
const PLAIN = /^H \d{6} [0-9a-f]+ 0\t/;
const GITLINK = /^H 160000 /;
/** Times of files are only known to this precision here; an older index makes git look twice, never too rarely. */
const OLDER_MS = 10;

export interface Seed {
  /** The index to continue with; it may not exist. */
  index: string;
  nested: RawPath[];
}

/** Undefined: the user's index cannot be used, so ours starts empty. */
export async function seedIndex(dir: PrivateGitDir): Promise<Seed | undefined> {
  const { repository, settings } = dir;
  if (settings.mayConvert) return undefined;
  const source = join(repository.gitDir, "index");
  const info = await stat(source).catch(() => undefined);
  if (info === undefined) return undefined;
  const index = dir.nameIndex();
  const target = join(dir.path, index);
  await copyFile(source, target);
  const seconds = (info.mtimeMs - OLDER_MS) / 1000;
  await utimes(target, seconds, seconds);
  const { code, stdout } = await dir.run({ args: ["ls-files", "-v", "--stage", "-z"], index });
  const lines = code === 0 ? await readLines(stdout) : undefined;
  if (
    lines === undefined ||
    (await mayConvertContent(lines.attributes.map((path) => toDiskPath(repository.root, path))))
  ) {
    await dir.dropIndex(index);
    return undefined;
  }
  return { index, nested: lines.nested };
}

const SLICE = 2000;

/** In slices, so that a large index does not hold up other sessions. */
async function readLines(output: Buffer): Promise<{ nested: RawPath[]; attributes: RawPath[] } | undefined> {
  const nested: RawPath[] = [];
  const attributes: RawPath[] = [];
  let seen = 0;
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0, at);
    if (end === -1) return undefined;
    const line = output.toString("latin1", at, end);
    at = end + 1;
    if (!PLAIN.test(line)) return undefined;
    const path = line.slice(line.indexOf("\t") + 1);
    if (GITLINK.test(line)) nested.push(path);
    if (path === ".gitattributes" || path.endsWith("/.gitattributes")) attributes.push(path);
    seen += 1;
    if (seen % SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return { nested, attributes };
}

/** Files that the user's index has although ignore rules match them. Empty if it cannot be read. */
export async function listTrackedIgnored(dir: PrivateGitDir): Promise<RawPath[]> {
  const index = dir.nameIndex();
  try {
    await copyFile(join(dir.repository.gitDir, "index"), join(dir.path, index));
    const args = ["ls-files", "-c", "-i", "--exclude-standard", "-z"];
    const { code, stdout } = await dir.run({ args, index });
    return code === 0 ? splitFields(stdout) : [];
  } catch {
    return []; // a new repository has no index
  } finally {
    await dir.dropIndex(index);
  }
}
