// Chooses the home directories that are emptied for commands.
import { homedir, userInfo } from "node:os";
import { defined } from "../../base/values.ts";
import { type HomeView, listHidden, planHome } from "./home.ts";
import { isWithin, resolvePath } from "./protected-paths.ts";

export interface UserPlaces {
  /** The workspace. */
  root: string;
  home?: string | undefined;
  env?: Readonly<Record<string, string | undefined>> | undefined;
  hide: readonly string[];
  cacheDirectory?: string | undefined;
}

export interface Homes {
  planned: HomeView[];
  /** In a workspace that contains the home directory, which therefore cannot be emptied. */
  hide: string[];
}

/** The home directory, and the one in the user database if it is another one. */
export async function planHomes(
  { root, home = homedir(), env = process.env, hide, cacheDirectory }: UserPlaces,
  more: { isNetworkDenied: boolean; isWritable: boolean; named: readonly string[] },
): Promise<Homes> {
  const hidden = (await Promise.all(hide.map(resolvePath))).flatMap((one) => one?.path ?? []);
  const options = { ...more, root, env, hidden };
  // sandbox-exec cannot show one directory in the place of another.
  const canMount = process.platform === "linux";
  const own = await planHome({
    ...options,
    home,
    ...(more.isWritable && canMount ? defined({ cacheDirectory }) : {}),
  });
  const registered = findRegisteredHome();
  const other = registered === undefined ? undefined : await planHome({ ...options, home: registered });
  const planned = [own, other?.path === own?.path ? undefined : other].filter((one) => one !== undefined);
  return {
    planned: planned.sort((a, b) => a.path.length - b.path.length),
    hide: own === undefined && isWithin(root, home) ? await listHidden(home) : [],
  };
}

/** Undefined for a user without an entry, as in some containers. */
function findRegisteredHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}
