// What commands may write outside of the workspace: caches of package managers, each on a private directory that is laid
// over the user's, and directories that the user names. Nothing that a command puts into a cache reaches the user's own.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { CodedError } from "../../base/coded-error.ts";
import { ensurePrivateDir } from "../state-dir.ts";
import { isWithin, resolvePlace } from "./places.ts";

/** A directory that lies at another place in the sandbox. */
export interface CacheMount {
  source: string;
  target: string;
  /** What of the user's own stays to be read in it. */
  readable: readonly string[];
}

export interface Caches {
  mounts: CacheMount[];
  /** For programs whose cache has no place in the home directory yet. */
  env: Record<string, string>;
}

export interface CacheOrder {
  home: string;
  /** Where the private directories are. */
  directory: string;
  /** The workspace. */
  root: string;
  isNetworkDenied: boolean;
}

/** Below /tmp, which is the command's own. */
const ELSEWHERE = "/tmp/.demian-caches";

interface Cache {
  name: string;
  /** Below the home directory. */
  path: string;
  variable?: string;
  /** Entries that are begun anew; others stay as they are and cannot be written. Absent: all are. */
  fresh?: ReadonlySet<string>;
  /** Without a network nothing could be fetched again: then the user's own is read. */
  needsNetwork?: true;
}

/** Below ~/.cache: what programs write whenever they run. The rest (browsers, models) is only read. */
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

/** Makes the private directories. Throws `state_unusable`. */
export async function prepareCaches(order: CacheOrder): Promise<Caches> {
  const { home, directory, root, isNetworkDenied } = order;
  const caches: Caches = { mounts: [], env: {} };
  for (const { name, path, variable, fresh, needsNetwork } of CACHES) {
    if (needsNetwork && isNetworkDenied) continue;
    const place = await resolvePlace(join(home, path));
    // A workspace in a cache is written as it is; a cache in the workspace as well.
    if (place !== undefined && (isWithin(place.path, root) || isWithin(root, place.path))) continue;
    if (place === undefined && variable === undefined) continue;
    const source = join(directory, name);
    await ensurePrivateDir(source);
    if (place?.kind === "directory") {
      const readable = fresh === undefined ? [] : await kept(place.path, fresh);
      caches.mounts.push({ source, target: place.path, readable });
    } else if (variable !== undefined) {
      const target = join(ELSEWHERE, name);
      caches.mounts.push({ source, target, readable: [] });
      caches.env[variable] = target;
    }
  }
  return caches;
}

/** Where `sandbox.writable` leads. Throws `config_invalid`: a directory that is not there, or that is too much. */
export async function resolveWritable(
  paths: readonly string[],
  { home, hide }: { home: string; hide: readonly string[] },
): Promise<string[]> {
  return Promise.all(
    paths.map(async (path) => {
      const refuse = (why: string) => new CodedError("config_invalid", `sandbox.writable: ${path} ${why}`);
      const place = await resolvePlace(path.replace(/^~(?=\/|$)/, home));
      if (place?.kind !== "directory")
        throw refuse("is not a directory; create it, or remove it from the list");
      const realHome = (await resolvePlace(home))?.path ?? home;
      if (isWithin(place.path, realHome))
        throw refuse("contains your home directory; use a directory below it");
      if (/^\/(proc|sys|dev|etc|usr|bin|sbin|lib[^/]*|boot)(\/|$)/.test(place.path))
        throw refuse("is a system directory; commands may not write there");
      const hidden = (await Promise.all(hide.map(resolvePlace))).flatMap((one) => one?.path ?? []);
      if (hidden.some((secret) => isWithin(secret, place.path))) throw refuse("is hidden from commands");
      return place.path;
    }),
  );
}

/** Directories and files of the user's that stay visible. */
async function kept(directory: string, fresh: ReadonlySet<string>): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const plain = entries.filter((entry) => (entry.isDirectory() || entry.isFile()) && !fresh.has(entry.name));
  return plain.map(({ name }) => join(directory, name));
}
