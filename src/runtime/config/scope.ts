// Where agents and tools come from besides the configuration: `~/.demian` of the user and `.demian` of the project. Lists
// and reads their files; what is in them is for others (agents/files.ts, tools/module-load.ts).
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { errnoOf, messageOf } from "../../base/coded-error.ts";
import { isBelow } from "../permissions/grantable.ts";
import { type Env, homeDir, projectDir, realPlace, stateDir } from "../state-dir.ts";
import { type FileBytes, readBoundedFile } from "./bounded-file.ts";
import { fewer } from "./fewer.ts";
import { readTrust, type TrustRecords, trustFile } from "./trust.ts";

export interface Place {
  /** The workspace: absolute and real. */
  cwd: string;
  env: Env;
}

export interface Scope {
  name: "user" | "project";
  /** The `.demian` directory. */
  root: string;
  /** Where trust in its files is kept. */
  trustDirectory: string;
}

export type Contributed = "agent" | "tool";

export interface ScopeFile extends FileBytes {
  kind: Contributed;
  scope: Scope;
  /** Without its extension. */
  stem: string;
}

export interface ScopeFiles {
  files: ScopeFile[];
  /** What cannot be read, each with its path. */
  faults: string[];
}

const FOLDERS: Readonly<
  Record<Contributed, { folder: string; extension: string; maxBytes: number; mistaken: readonly string[] }>
> = {
  agent: { folder: "agents", extension: ".md", maxBytes: 256 * 1024, mistaken: [".markdown", ".mdx"] },
  tool: {
    folder: "tools",
    extension: ".mjs",
    maxBytes: 1024 * 1024,
    mistaken: [".js", ".cjs", ".ts", ".mts"],
  },
};
const MAX_FILES = 100;

/** The user's, then the project's; where the project's is the user's own (a session in the home directory) there is one. */
export async function scopesOf({ cwd, env }: Place): Promise<Scope[]> {
  const user: Scope = { name: "user", root: join(homeDir(env), ".demian"), trustDirectory: stateDir(env) };
  const project: Scope = {
    name: "project",
    root: join(cwd, ".demian"),
    trustDirectory: projectDir(env, cwd),
  };
  const [own, theirs] = await Promise.all(
    [user, project].map(({ root }) => stat(root).catch(() => undefined)),
  );
  const isOwn = own !== undefined && own.dev === theirs?.dev && own.ino === theirs.ino;
  return isOwn ? [user] : [user, project];
}

export async function readScope(scope: Scope, kind: Contributed): Promise<ScopeFiles> {
  const { folder, extension, maxBytes, mistaken } = FOLDERS[kind];
  const found: ScopeFiles = { files: [], faults: [] };
  const directory = await realFolder(scope, join(scope.root, folder), found.faults);
  if (directory === undefined) return found;
  const names = (
    await readdir(directory).catch((error: unknown) => {
      found.faults.push(`${directory} cannot be read: ${messageOf(error)}`);
      return [];
    })
  )
    .filter((name) => !name.startsWith("."))
    .sort();
  const wrong = names.filter((name) => mistaken.includes(extname(name)));
  found.faults.push(
    ...fewer(
      wrong.map((name) => `${join(directory, name)} is not loaded: the name must end in ${extension}`),
      directory,
    ),
  );
  const chosen = names.filter((name) => extname(name) === extension);
  if (chosen.length > MAX_FILES)
    found.faults.push(
      `${directory} holds ${chosen.length} files; the first ${MAX_FILES} by name are looked at`,
    );
  for (const name of chosen.slice(0, MAX_FILES)) {
    try {
      const path = await realFile(scope, join(directory, name));
      const file = await readBoundedFile(path, { maxBytes, followsLinks: false });
      if (scope.name === "project" && (await realpath(path)) !== path) throw new Error(`${path} moved away`);
      if (file !== undefined) found.files.push({ ...file, kind, scope, stem: basename(name, extension) });
    } catch (error) {
      found.faults.push(`${messageOf(error)}; it is left out`);
    }
  }
  return found;
}

export async function readScopeTrust(scope: Scope, place: Place): Promise<TrustRecords> {
  const warning = await whyNoTrust(place);
  return warning === undefined ? readTrust(scope.trustDirectory) : { records: [], warning };
}

/** Trust counts only where the workspace cannot bring it along. Undefined: it counts. */
export async function whyNoTrust({ cwd, env }: Place): Promise<string | undefined> {
  const [given, home] = [stateDir(env), homeDir(env)];
  const [state = given, own = home] = await Promise.all([given, home].map(realPlace));
  if (!isBelow(state, cwd) || isBelow(own, cwd)) return undefined;
  return `${given} is in the workspace, which could bring its own trust: nothing is trusted; set XDG_STATE_HOME to a directory outside`;
}

/** Changes when one of these files does, or the trust in them: what was loaded is then out of date. */
export async function contributionStamp(place: Place): Promise<string> {
  const scopes = await scopesOf(place);
  const files = await Promise.all(
    scopes.flatMap(({ root, trustDirectory }) => [
      [trustFile(trustDirectory)],
      ...Object.values(FOLDERS).map(async ({ folder }) => {
        const directory = join(root, folder);
        const names = await readdir(directory).catch(() => []);
        return names.slice(0, 2 * MAX_FILES).map((name) => join(directory, name));
      }),
    ]),
  );
  const stamps = files.flat().map(async (file) => {
    const stats = await stat(file).catch(() => undefined);
    return stats === undefined ? "-" : `${file}:${stats.ino}:${stats.size}:${stats.mtimeMs}`;
  });
  return (await Promise.all(stamps)).join(",");
}

/** Undefined: there is none, or it must not be read. A project's is no link, so that a repository cannot point elsewhere. */
async function realFolder(scope: Scope, path: string, faults: string[]): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    if (scope.name === "project" && real !== path)
      faults.push(`${path} is reached by a symbolic link; it is left out`);
    else if ((await lstat(real)).isDirectory()) return real;
    else faults.push(`${path} is no directory; it is left out`);
  } catch (error) {
    // ENOTDIR: `.demian` itself is a file, as some other program's may be.
    if (errnoOf(error) !== "ENOENT" && errnoOf(error) !== "ENOTDIR")
      faults.push(`${path} cannot be read: ${messageOf(error)}`);
  }
  return undefined;
}

async function realFile(scope: Scope, path: string): Promise<string> {
  if (scope.name === "project") return path;
  const real = await realpath(path).catch((cause: unknown) => {
    throw new Error(`cannot read ${path}: ${messageOf(cause)}`, { cause });
  });
  if (dirname(real) === dirname(path)) return real;
  throw new Error(
    `${path} is a symbolic link that leads out of its directory; link the whole directory instead`,
  );
}
