// Paths hidden from the agent's tools and commands: our state and settings, the daemon's socket and history, and the usual
// places of credentials. Write access to the former would let an agent grant itself anything; builds and tests do not need
// the latter. Commands see an almost empty home directory anyway (sandbox/home.ts); the list is for file tools, for a
// workspace that contains the home directory, and for the rest of the machine.

import { realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { getClaudeConfigDir } from "../base/claude-wire/environment.ts";
import type { DemianConfig } from "./config/schema.ts";
import { listNamedCredentials } from "./credential-variables.ts";
import { resolveCodexHome } from "./providers/codex/codex-home.ts";
import { type Env, getHomeDir, getStateDir } from "./state-dir.ts";

/** Relative to the home directory. */
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
  ".npmrc",
  ".yarnrc.yml",
  ".config/pnpm/rc",
  ".config/pip",
  ".claude.json",
  ".copilot",
  ".config/github-copilot",
  ".terraform.d",
  ".terraformrc",
  ".m2/settings.xml",
  ".gradle/gradle.properties",
  ".cache/huggingface/token",
  ".config/rclone",
  ".my.cnf",
  ".mozilla",
  ".config/google-chrome",
  ".config/chromium",
  "Library/Keychains",
  // Among programs, whose other files commands may read.
  ".local/share/uv/credentials",
  ".local/share/gem/credentials",
  ".local/share/pypoetry/auth.toml",
  ".julia/servers",
  ".dotnet/corefx/cryptography",
  ".config/pypoetry/auth.toml",
  // Whole directories: a running command would still see a file that is replaced from outside.
  ".claude",
  ".codex",
  ".gemini",
  ".local/share/opencode",
];

/** Of services and containers; only root could read most of them. */
const SYSTEM_CREDENTIALS = [
  "/run/secrets",
  "/run/credentials",
  "/run/keys",
  "/run/user",
  "/var/run/secrets",
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/ssh/ssh_host_rsa_key",
  "/etc/ssh/ssh_host_ecdsa_key",
  "/etc/ssh/ssh_host_ed25519_key",
];

/** `providers`: their login directories, where not the default ones. */
export function listHiddenPaths(env: Env, providers: DemianConfig["providers"] = {}): string[] {
  const home = getHomeDir(env);
  const daemonState = env["BLEMEESD_STATE_DIR"] || join(getStateDir(env), "..", "blemees");
  const sockets = [env["BLEMEES_SOCKET"], env["BLEMEESD_SOCKET"], env["XDG_RUNTIME_DIR"]];
  const codex = Object.values(providers).flatMap((one) => (one.type === "codex" ? [one] : []));
  const logins = [
    ...[{}, ...codex].map((one) => findLoginPath(resolveCodexHome(one, env), "auth.json", home)),
    findLoginPath(getClaudeConfigDir(env), ".credentials.json", home),
  ];
  // One that contains the home directory would hide everything.
  const elsewhere = listNamedCredentials(env).filter((path) => relative(path, home).startsWith(".."));
  const places = [getStateDir(env), join(home, ".demian"), daemonState, ...sockets, ...logins, ...elsewhere];
  const named = places.filter((place): place is string => place !== undefined && place !== "");
  return [...new Set([...named, ...CREDENTIALS.map((name) => join(home, name)), ...SYSTEM_CREDENTIALS])];
}

/** The directory, unless it contains the home directory: that would hide everything. */
function findLoginPath(directory: string, file: string, home: string): string {
  return relative(directory, home).startsWith("..") ? directory : join(directory, file);
}

/** Hidden paths inside the workspace (which may be the home directory), relative to it. */
export async function findPathsBelow(root: string, places: readonly string[]): Promise<string[]> {
  const real = await Promise.all(places.map((place) => realpath(place).catch(() => place)));
  return real.map((place) => relative(root, place)).filter((path) => path !== "" && !path.startsWith(".."));
}
