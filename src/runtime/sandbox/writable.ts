// Checks the paths that the user's configuration makes accessible: `sandbox.writable` and `sandbox.readable`.
import { CodedError } from "../../base/coded-error.ts";
import { isWithin, type PathKind, resolvePath } from "./protected-paths.ts";

export interface NamedPlaces {
  home: string;
  hide: readonly string[];
}

const SYSTEM = /^\/(proc|sys|dev|etc|usr|bin|sbin|lib[^/]*|boot)(\/|$)/;

/** Resolves `sandbox.writable`. Throws `config_invalid` for missing or dangerous directories. */
export async function resolveWritable(paths: readonly string[], places: NamedPlaces): Promise<string[]> {
  const found = await resolveNamed("sandbox.writable", paths, places);
  return found.map(({ path, kind, given }) => {
    if (kind !== "directory")
      throw refuse("sandbox.writable", given, "is not a directory; create it, or remove it from the list");
    if (SYSTEM.test(path))
      throw refuse("sandbox.writable", given, "is a system directory; commands may not write there");
    return path;
  });
}

/** Resolves `sandbox.readable`. Throws `config_invalid`. */
export async function resolveReadable(paths: readonly string[], places: NamedPlaces): Promise<string[]> {
  return (await resolveNamed("sandbox.readable", paths, places)).map(({ path }) => path);
}

interface Named {
  given: string;
  path: string;
  kind: PathKind;
}

async function resolveNamed(key: string, paths: readonly string[], places: NamedPlaces): Promise<Named[]> {
  const home = (await resolvePath(places.home))?.path ?? places.home;
  const hidden = (await Promise.all(places.hide.map(resolvePath))).flatMap((one) => one?.path ?? []);
  return Promise.all(
    paths.map(async (given) => {
      const found = await resolvePath(given.replace(/^~(?=\/|$)/, places.home));
      if (found === undefined)
        throw refuse(key, given, "does not exist; create it, or remove it from the list");
      if (isWithin(found.path, home))
        throw refuse(key, given, "contains your home directory; use a directory below it");
      if (hidden.some((secret) => isWithin(secret, found.path)))
        throw refuse(key, given, "is hidden from commands");
      return { ...found, given };
    }),
  );
}

function refuse(key: string, path: string, why: string): CodedError {
  return new CodedError("config_invalid", `${key}: ${path} ${why}`);
}
