// What no command of the agent may see: our own state and settings, the daemon's socket and history, and the usual
// places of credentials. Whoever could write the former would allow himself whatever he likes; nobody who builds and
// tests needs to read the latter.
import { realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import type { DemianConfig } from "./config/schema.ts";
import { codexHomeOf } from "./providers/codex/codex-home.ts";
import { type Env, homeDir, stateDir } from "./state-dir.ts";

/** Below the home directory. */
const CREDENTIALS = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".netrc",
  ".git-credentials",
  ".config/git/credentials",
  ".docker/config.json",
  ".config/gcloud",
  ".config/gh",
  ".config/op",
  ".password-store",
  ".local/share/keyrings",
  ".vault-token",
  ".pgpass",
  ".pypirc",
  ".gem/credentials",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".mozilla",
  ".config/google-chrome",
  ".config/chromium",
  "Library/Keychains",
  // Whole directories: a file that is replaced from outside would be seen by a command that runs.
  ".claude",
  ".codex",
  ".gemini",
  ".local/share/opencode",
];

/** `providers`: where their logins are, when they are not in the usual place. */
export function hiddenPlaces(env: Env, providers: DemianConfig["providers"] = {}): string[] {
  const home = homeDir(env);
  const daemonState = env["BLEMEESD_STATE_DIR"] || join(stateDir(env), "..", "blemees");
  const sockets = [env["BLEMEES_SOCKET"], env["BLEMEESD_SOCKET"], env["XDG_RUNTIME_DIR"]];
  const codex = Object.values(providers).flatMap((one) => (one.type === "codex" ? [one] : []));
  const logins = [
    ...[{}, ...codex].map((one) => loginPlace(codexHomeOf(one, env), "auth.json", home)),
    loginPlace(env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), ".credentials.json", home),
  ];
  const places = [stateDir(env), join(home, ".demian"), daemonState, ...sockets, ...logins];
  const named = places.filter((place): place is string => place !== undefined && place !== "");
  return [...new Set([...named, ...CREDENTIALS.map((name) => join(home, name))])];
}

/** The directory, unless the home directory is in it: then everything would be hidden. */
function loginPlace(directory: string, file: string, home: string): string {
  return relative(directory, home).startsWith("..") ? directory : join(directory, file);
}

/** Those of them that lie in the workspace, relative to it: it may be the home directory. */
export async function placesBelow(root: string, places: readonly string[]): Promise<string[]> {
  const real = await Promise.all(places.map((place) => realpath(place).catch(() => place)));
  return real.map((place) => relative(root, place)).filter((path) => path !== "" && !path.startsWith(".."));
}
