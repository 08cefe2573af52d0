// Finds the settings in the home directory that commands may read: those on our list, and files that the user's git
// settings name. A file whose text looks as if it contained a login is left out.
import { open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { SETTINGS } from "./home-entries.ts";
import { isWithin, resolvePath } from "./protected-paths.ts";

const MAX_BYTES = 65_536;
const LOGIN =
  /token|passw|secret|authorization|extraheader|api_?key|_key\b|oauth|:\/\/(?!git@)[^\s/]*@|\b(gh[oprsu]_|github_pat_|glpat-)|-----BEGIN/i;
/** The user's own, which commands cannot write. What these include is not searched again. */
const GIT_SETTINGS = [".gitconfig", ".config/git/config"];
const SECTION = /^\s*\[\s*([a-z]+)/i;
const ASSIGNMENT = /^\s*([a-z]+)\s*=\s*"?([^"#;]+?)"?\s*([#;].*)?$/i;
/** Without these files git has another identity, and reports other files as new. */
const NAMING = new Set([
  ...["include.path", "includeif.path", "commit.template"],
  ...["core.excludesfile", "core.attributesfile"],
]);

/** Paths in the home directory. `closed`: real paths that are not for commands, or mounted anyway. */
export async function findSettings(home: string, closed: readonly string[]): Promise<string[]> {
  const listed = await Promise.all(SETTINGS.map((name) => readHarmless(join(home, name))));
  const texts = new Map(SETTINGS.map((name, at) => [join(home, name), listed[at]]));
  const named = GIT_SETTINGS.map((name) => join(home, name)).flatMap((path) =>
    listNamed(home, path, texts.get(path) ?? ""),
  );
  for (const path of new Set(named)) {
    const real = (await resolvePath(path))?.path;
    const isClosed = closed.some((one) => [path, real ?? path].some((place) => isWithin(one, place)));
    if (isWithin(home, path) && !isClosed) texts.set(path, await readHarmless(path));
  }
  return [...texts].flatMap(([path, text]) => (text === undefined ? [] : [path]));
}

/** Relative names are relative to the file that has them. */
function listNamed(home: string, file: string, text: string): string[] {
  let section = "";
  return text.split("\n").flatMap((line) => {
    section = SECTION.exec(line)?.[1]?.toLowerCase() ?? section;
    const [, key = "", value = ""] = ASSIGNMENT.exec(line) ?? [];
    if (!NAMING.has(`${section}.${key.toLowerCase()}`)) return [];
    return [resolve(dirname(file), value.replace(/^~(?=\/)/, home))];
  });
}

/** The text; undefined if it is not a file, too long, or not harmless. */
async function readHarmless(path: string): Promise<string | undefined> {
  const found = await resolvePath(path);
  if (found?.kind !== "file") return undefined;
  const text = await readAtMost(found.path, MAX_BYTES).catch(() => undefined);
  return text === undefined || LOGIN.test(text) ? undefined : text;
}

/** Undefined if it is longer. */
async function readAtMost(path: string, most: number): Promise<string | undefined> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(most + 1), 0, most + 1, 0);
    return bytesRead > most ? undefined : buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
