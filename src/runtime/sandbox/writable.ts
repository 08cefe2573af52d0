// What commands may write outside the workspace: configured directories, and caches of package managers. Each cache is a
// private directory mounted over the user's, so that nothing written there reaches the user's own.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { CodedError } from "../../base/coded-error.ts";
import { ensurePrivateDir } from "../state-dir.ts";
import { isWithin, resolvePath } from "./protected-paths.ts";

/** A directory mounted elsewhere in the sandbox. */
export interface CacheMount {
  source: string;
  target: string;
  /** Entries of the user's cache that stay readable. */
  readable: readonly string[];
}

export interface Caches {
  mounts: CacheMount[];
  /** For programs without a cache in the home directory yet. */
  env: Record<string, string>;
}

export interface CacheOptions {
  home: string;
  /** Parent of the private directories. */
  directory: string;
  /** The workspace. */
  root: string;
  isNetworkDenied: boolean;
}

/** In the sandbox's private /tmp. */
const ELSEWHERE = "/tmp/.demian-caches";

interface Cache {
  name: string;
  /** Below the home directory. */
  path: string;
  variable?: string;
  /** Entries that start empty; the others stay readable. Absent: all start empty. */
  fresh?: ReadonlySet<string>;
  /** Without a network the user's own cache is used, because nothing could be fetched again. */
  needsNetwork?: true;
}

/** Entries of ~/.cache that programs write on every run. The rest (browsers, models) is read-only. */
const FRESH = new Set(
  "pip go-build yarn uv pnpm node node-gyp typescript deno bun pypoetry pre-commit ccache sccache ruff mypy".split(
    " ",
  ),
);

const CACHES: readonly Cache[] = [
  { name: "npm", path: ".npm", variable: "npm_config_cache" },
  { name: "cache", path: ".cache", variable: "XDG_CACHE_HOME", fresh: FRESH },
  { name: "cargo-registry", path: ".cargo/registry", needsNetwork: true },
  { name: "cargo-git", path: ".cargo/git", needsNetwork: true },
];

/** Creates the private directories. Throws `state_unusable`. */
export async function prepareCaches(options: CacheOptions): Promise<Caches> {
  const { home, directory, root, isNetworkDenied } = options;
  const caches: Caches = { mounts: [], env: {} };
  for (const { name, path, variable, fresh, needsNetwork } of CACHES) {
    if (needsNetwork && isNetworkDenied) continue;
    const found = await resolvePath(join(home, path));
    // A workspace in a cache, or a cache in the workspace, is writable anyway.
    if (found !== undefined && (isWithin(found.path, root) || isWithin(root, found.path))) continue;
    if (found === undefined && variable === undefined) continue;
    const source = join(directory, name);
    await ensurePrivateDir(source);
    if (found?.kind === "directory") {
      const readable = fresh === undefined ? [] : await listReadable(found.path, fresh);
      caches.mounts.push({ source, target: found.path, readable });
    } else if (variable !== undefined) {
      const target = join(ELSEWHERE, name);
      caches.mounts.push({ source, target, readable: [] });
      caches.env[variable] = target;
    }
  }
  return caches;
}

/** Resolves `sandbox.writable`. Throws `config_invalid` for missing or dangerous directories. */
export async function resolveWritable(
  paths: readonly string[],
  { home, hide }: { home: string; hide: readonly string[] },
): Promise<string[]> {
  return Promise.all(
    paths.map(async (path) => {
      const refuse = (why: string) => new CodedError("config_invalid", `sandbox.writable: ${path} ${why}`);
      const found = await resolvePath(path.replace(/^~(?=\/|$)/, home));
      if (found?.kind !== "directory")
        throw refuse("is not a directory; create it, or remove it from the list");
      const realHome = (await resolvePath(home))?.path ?? home;
      if (isWithin(found.path, realHome))
        throw refuse("contains your home directory; use a directory below it");
      if (/^\/(proc|sys|dev|etc|usr|bin|sbin|lib[^/]*|boot)(\/|$)/.test(found.path))
        throw refuse("is a system directory; commands may not write there");
      const hidden = (await Promise.all(hide.map(resolvePath))).flatMap((one) => one?.path ?? []);
      if (hidden.some((secret) => isWithin(secret, found.path))) throw refuse("is hidden from commands");
      return found.path;
    }),
  );
}

/** The user's entries that stay readable. */
async function listReadable(directory: string, fresh: ReadonlySet<string>): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const plain = entries.filter((entry) => (entry.isDirectory() || entry.isFile()) && !fresh.has(entry.name));
  return plain.map(({ name }) => join(directory, name));
}
