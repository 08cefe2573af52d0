// Plans the home directory that commands see: empty and read-only, with toolchains, harmless settings and private caches
// put in (home-entries.ts). Credentials stay out because nothing lets them in.
import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, delimiter, dirname, isAbsolute, join, relative } from "node:path";
import { ensurePrivateDir } from "../../base/private-file.ts";
import { isSecretPath } from "../workspace/protected.ts";
import { CACHES, PYTHON, SHARED_CACHES, TOOLCHAIN_VARIABLES, TOOLCHAINS } from "./home-entries.ts";
import { isWithin, resolvePath } from "./protected-paths.ts";
import { findRepository } from "./repository.ts";
import { findSettings } from "./settings.ts";

/** A directory mounted elsewhere in the sandbox. */
export interface Mount {
  source: string;
  target: string;
}

export interface HomeView {
  /** A real path. */
  path: string;
  readable: readonly string[];
  /** Environment files in directories above the workspace that stay readable. */
  masked: readonly string[];
  /** Private caches. */
  caches: readonly Mount[];
  /** Readable parts of the user's own caches, some of them in private ones. */
  shared: readonly string[];
  /** For programs that would write elsewhere. */
  env: Readonly<Record<string, string>>;
}

export interface HomeOptions {
  home: string;
  /** The workspace. */
  root: string;
  /** Of the user: names directories with programs. */
  env: Readonly<Record<string, string | undefined>>;
  isNetworkDenied: boolean;
  /** Real paths; they win over everything else. */
  hidden: readonly string[];
  /** Real paths that the user made accessible; mounted separately. */
  named: readonly string[];
  /** Parent of the private directories; without it no cache is writable. */
  cacheDirectory?: string | undefined;
}

const SIBLINGS = ["lib", "lib64", "libexec", "share", "include"];
const PARENTS_OF_ALL = new Set(["", ".local", ".config", ".cache", "Library"]);
/** Without these nothing works; a home directory around one of them cannot be emptied. */
const SYSTEM = ["/usr", "/bin", "/lib", "/etc", "/var", "/tmp", "/run", "/dev", "/proc", "/sys", "/opt"];
const SYSTEM_PARTS = /^\/(usr|s?bin|lib[^/]*|etc|dev|proc|sys|run|boot)(\/|$)/;

/** Undefined: it does not exist, is part of the system, or is in the workspace. Throws `state_unusable`. */
export async function planHome(options: HomeOptions): Promise<HomeView | undefined> {
  const found = await resolvePath(options.home);
  if (found?.kind !== "directory" || isWithin(options.root, found.path)) return undefined;
  if (SYSTEM.some((path) => isWithin(found.path, path)) || SYSTEM_PARTS.test(found.path)) return undefined;
  const home = found.path;
  const repository = isWithin(home, options.root) ? await findRepository(home, options.root) : undefined;
  const places = listPrograms(home, options.env).map((path) =>
    // The home directory may be a link.
    isWithin(options.home, path) ? join(home, relative(options.home, path)) : path,
  );
  const programs = await findExisting(home, places, options);
  const settings = await findSettings(home, [...options.hidden, ...options.named, options.root]);
  const readable = keepOuter([...programs, ...(repository?.directories ?? []), ...settings]);
  return {
    path: home,
    readable,
    masked: repository?.masked ?? [],
    ...(await planCaches(home, options)),
  };
}

/** What to hide in a home directory that is not emptied: everything with a dot, except places of programs and caches. */
export async function listHidden(home: string): Promise<string[]> {
  const kept = new Set([...TOOLCHAINS, ...CACHES.map(({ path }) => path)].map((path) => path.split("/")[0]));
  const names = await readdir(home).catch(() => []);
  return names
    .filter((name) => name.startsWith(".") && !isSecretPath(name) && name !== ".git" && !kept.has(name))
    .map((name) => join(home, name));
}

function listPrograms(home: string, env: HomeOptions["env"]): string[] {
  const path = (env["PATH"] ?? "").split(delimiter);
  const named = [...path, ...TOOLCHAIN_VARIABLES.map((name) => env[name] ?? "")];
  const siblings = path
    .filter((entry) => /^s?bin$/.test(basename(entry)) && isOwnPlace(home, dirname(entry)))
    .flatMap((entry) => SIBLINGS.map((name) => join(dirname(entry), name)));
  return [...TOOLCHAINS.map((name) => join(home, name)), ...named, ...siblings];
}

/** A directory of one program, such as ~/node-v20; not one that all programs share. */
function isOwnPlace(home: string, path: string): boolean {
  return isWithin(home, path) && !PARENTS_OF_ALL.has(path.slice(home.length + 1));
}

async function findExisting(
  home: string,
  paths: readonly string[],
  { root, hidden, named }: HomeOptions,
): Promise<string[]> {
  const wanted = [...new Set(paths)].filter(
    (path) => isAbsolute(path) && isOwnPlace(home, path) && !isWithin(root, path),
  );
  const found = await Promise.all(
    wanted.map(async (path) => {
      const real = (await resolvePath(path))?.path;
      const isRefused =
        real === undefined ||
        isWithin(real, home) ||
        // What is hidden below it is masked.
        [path, real].some((one) => hidden.some((secret) => isWithin(secret, one))) ||
        named.some((one) => isWithin(one, path));
      return isRefused ? [] : [path];
    }),
  );
  return found.flat();
}

function keepOuter(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isWithin(other, path))).sort();
}

interface PlannedCaches {
  caches: Mount[];
  shared: string[];
  env: Record<string, string>;
}

async function planCaches(home: string, options: HomeOptions): Promise<PlannedCaches> {
  const { root, named, isNetworkDenied, cacheDirectory } = options;
  const planned: PlannedCaches = { caches: [], shared: [], env: {} };
  for (const { name, path, isCommon, isSources } of CACHES) {
    const target = join(home, path);
    // A workspace in a cache, or the other way round, is mounted anyway.
    if ([root, ...named].some((one) => isWithin(target, one) || isWithin(one, target))) continue;
    const own = (await resolvePath(target))?.kind === "directory";
    if (own && isSources && (isNetworkDenied || cacheDirectory === undefined)) planned.shared.push(target);
    else if (cacheDirectory !== undefined && (own || isCommon)) {
      const source = join(cacheDirectory, name);
      await ensurePrivateDir(source);
      planned.caches.push({ source, target });
      if (path === ".cache") planned.shared.push(...(await findShared(target, source)));
    }
  }
  if (cacheDirectory === undefined) return planned;
  const source = join(cacheDirectory, PYTHON.name);
  const target = join(home, PYTHON.path);
  await preparePython(source, join(home, ".local/lib"));
  return {
    ...planned,
    caches: [...planned.caches, { source, target }],
    env: { PYTHONUSERBASE: target },
  };
}

/** Mounted in the private directory, where commands can put a link that leads anywhere. */
async function findShared(own: string, source: string): Promise<string[]> {
  const found = await Promise.all(
    SHARED_CACHES.map(async (name) => {
      const place = await lstat(join(source, name)).catch(() => undefined);
      const isFree = place === undefined || place.isDirectory();
      return isFree && (await resolvePath(join(own, name)))?.kind === "directory";
    }),
  );
  return SHARED_CACHES.filter((_, at) => found[at]).map((name) => join(own, name));
}

/**
 * Made once, before any command can write there. The user's own packages, which are read-only, stay importable.
 */
async function preparePython(directory: string, own: string): Promise<void> {
  if ((await lstat(directory).catch(() => undefined)) !== undefined) return ensurePrivateDir(directory);
  const draft = `${directory}.${randomUUID()}`;
  await ensurePrivateDir(draft);
  const versions = (await readdir(own).catch(() => [])).filter((name) => /^python\d+\.\d+$/.test(name));
  for (const version of versions) {
    const packages = join(draft, "lib", version, "site-packages");
    await mkdir(packages, { recursive: true });
    await writeFile(join(packages, "demian-user.pth"), `${join(own, version, "site-packages")}\n`);
  }
  // Another process may have been faster.
  await rename(draft, directory).catch(() => rm(draft, { recursive: true, force: true }));
}
