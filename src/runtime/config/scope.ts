// The directories of agents, tools and skills: `~/.demian` of the user and `.demian` of the project. Lists and reads their
// files; agents/files.ts and tools/module-load.ts interpret them.
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { readErrno, toMessage } from "../../base/coded-error.ts";
import { isBelow } from "../../base/commands/executables.ts";
import { type Env, getHomeDir, getProjectDir, getStateDir, resolveRealPath } from "../state-dir.ts";
import { type FileBytes, readBoundedFile } from "./bounded-file.ts";
import { limitWarnings } from "./fewer.ts";
import { getTrustPath, readTrust, type TrustRecords } from "./trust.ts";

export interface ScopePlace {
  /** The workspace: absolute and real. */
  cwd: string;
  env: Env;
}

export interface Scope {
  name: "user" | "project";
  /** The `.demian` directory. */
  root: string;
  /** The state directory for trust in its files. */
  trustDirectory: string;
}

export type Contributed = "agent" | "tool" | "skill" | "command";

export interface ScopeFile extends FileBytes {
  kind: Contributed;
  scope: Scope;
  /** Without its extension. */
  stem: string;
}

export interface ScopeFiles {
  files: ScopeFile[];
  /** Errors of unreadable files, each with its path. */
  faults: string[];
}

const FOLDERS: Readonly<
  Record<
    Contributed,
    { folder: string; extension: string; maxBytes: number; mistaken: readonly string[]; inner?: string }
  >
> = {
  agent: { folder: "agents", extension: ".md", maxBytes: 256 * 1024, mistaken: [".markdown", ".mdx"] },
  command: { folder: "commands", extension: ".md", maxBytes: 64 * 1024, mistaken: [".markdown", ".mdx"] },
  tool: {
    folder: "tools",
    extension: ".mjs",
    maxBytes: 1024 * 1024,
    mistaken: [".js", ".cjs", ".ts", ".mts"],
  },
  // A directory each, with other files.
  skill: { folder: "skills", extension: "", maxBytes: 64 * 1024, mistaken: [".md"], inner: "SKILL.md" },
};
const MAX_FILES = 100;

/** The user's, then the project's; one if they are the same (a session in the home directory). */
export async function listScopes({ cwd, env }: ScopePlace): Promise<Scope[]> {
  const user: Scope = {
    name: "user",
    root: join(getHomeDir(env), ".demian"),
    trustDirectory: getStateDir(env),
  };
  const project: Scope = {
    name: "project",
    root: join(cwd, ".demian"),
    trustDirectory: getProjectDir(env, cwd),
  };
  const [own, theirs] = await Promise.all(
    [user, project].map(({ root }) => stat(root).catch(() => undefined)),
  );
  const isOwn = own !== undefined && own.dev === theirs?.dev && own.ino === theirs.ino;
  return isOwn ? [user] : [user, project];
}

export async function readScope(scope: Scope, kind: Contributed): Promise<ScopeFiles> {
  const { folder, extension, maxBytes, mistaken, inner = "" } = FOLDERS[kind];
  const found: ScopeFiles = { files: [], faults: [] };
  const directory = await findRealFolder(scope, join(scope.root, folder), found.faults);
  if (directory === undefined) return found;
  const names = (
    await readdir(directory).catch((error: unknown) => {
      found.faults.push(`${directory} cannot be read: ${toMessage(error)}`);
      return [];
    })
  )
    .filter((name) => !name.startsWith("."))
    .sort();
  const wrong = names.filter((name) => mistaken.includes(extname(name)));
  found.faults.push(
    ...limitWarnings(
      wrong.map((name) => `${join(directory, name)} is not loaded: ${explainName(kind)}`),
      directory,
    ),
  );
  const chosen = names.filter((name) => extname(name) === extension);
  if (chosen.length > MAX_FILES)
    found.faults.push(
      `${directory} contains ${chosen.length} files; only the first ${MAX_FILES} by name are used`,
    );
  for (const name of chosen.slice(0, MAX_FILES)) {
    try {
      const path = await findRealFile(scope, join(directory, name, inner));
      const file = await readBoundedFile(path, { maxBytes, followsLinks: false });
      if (scope.name === "project" && (await realpath(path)) !== path) throw new Error(`${path} was moved`);
      if (file !== undefined) found.files.push({ ...file, kind, scope, stem: basename(name, extension) });
    } catch (error) {
      found.faults.push(`${toMessage(error)}; it is ignored`);
    }
  }
  return found;
}

function explainName(kind: Contributed): string {
  const { extension, inner } = FOLDERS[kind];
  return inner === undefined ? `the name must end in ${extension}` : `a skill is a directory with ${inner}`;
}

export async function readScopeTrust(scope: Scope, place: ScopePlace): Promise<TrustRecords> {
  const warning = await explainNoTrust(place);
  return warning === undefined ? readTrust(scope.trustDirectory) : { records: [], warning };
}

/** Trust is valid only outside the workspace, which could bring its own. Undefined: valid. */
export async function explainNoTrust({ cwd, env }: ScopePlace): Promise<string | undefined> {
  const [given, home] = [getStateDir(env), getHomeDir(env)];
  const [state = given, own = home] = await Promise.all([given, home].map(resolveRealPath));
  if (!isBelow(state, cwd) || isBelow(own, cwd)) return undefined;
  return `${given} is inside the workspace, which could bring its own trust: nothing is trusted; set XDG_STATE_HOME to a directory outside it`;
}

/** Changes whenever one of these files or its trust changes, so that loaded state can be invalidated. */
export async function readContributionStamp(place: ScopePlace): Promise<string> {
  const scopes = await listScopes(place);
  const files = await Promise.all(
    scopes.flatMap(({ root, trustDirectory }) => [
      [getTrustPath(trustDirectory)],
      ...Object.values(FOLDERS).map(async ({ folder, inner = "" }) => {
        const directory = join(root, folder);
        const names = await readdir(directory).catch(() => []);
        return names.slice(0, 2 * MAX_FILES).map((name) => join(directory, name, inner));
      }),
    ]),
  );
  const stamps = files.flat().map(async (file) => {
    const stats = await stat(file).catch(() => undefined);
    return stats === undefined ? "-" : `${file}:${stats.ino}:${stats.size}:${stats.mtimeMs}`;
  });
  return (await Promise.all(stamps)).join(",");
}

/**
 * Undefined: missing, or must not be read. A project's may not be a link, so that a repository cannot point elsewhere.
 */
async function findRealFolder(scope: Scope, path: string, faults: string[]): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    if (scope.name === "project" && real !== path)
      faults.push(`${path} is reached through a symbolic link; it is ignored`);
    else if ((await lstat(real)).isDirectory()) return real;
    else faults.push(`${path} is not a directory; it is ignored`);
  } catch (error) {
    // ENOTDIR: `.demian` itself is a file, possibly another program's.
    if (readErrno(error) !== "ENOENT" && readErrno(error) !== "ENOTDIR")
      faults.push(`${path} cannot be read: ${toMessage(error)}`);
  }
  return undefined;
}

async function findRealFile(scope: Scope, path: string): Promise<string> {
  if (scope.name === "project") return path;
  const real = await realpath(path).catch((cause: unknown) => {
    throw new Error(`cannot read ${path}: ${toMessage(cause)}`, { cause });
  });
  if (dirname(real) === dirname(path)) return real;
  throw new Error(
    `${path} is a symbolic link that leads outside its directory; link the whole directory instead`,
  );
}
