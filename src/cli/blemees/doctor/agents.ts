// Checks Claude Code and Codex: installed, which version, logged in. Uses no network and does not read credentials.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { findProgram } from "../../../base/find-program.ts";
import type { Check } from "../../checks.ts";
import type { CheckContext } from "./check.ts";
import { addTested } from "./tested.ts";

interface Agent {
  name: string;
  /** The variable with the path of its program. */
  variable: string;
  install: string;
  login: string;
  /** Any of these variables is a login. */
  keys: readonly string[];
  /** The file with its login. */
  file(env: CheckContext["env"], home: string): string;
}

const AGENTS: readonly Agent[] = [
  {
    name: "claude",
    variable: "BLEMEESD_CLAUDE",
    install: "npm install -g @anthropic-ai/claude-code",
    login: "run `claude` once and log in, or set ANTHROPIC_API_KEY in the daemon's environment",
    keys: [
      "ANTHROPIC_API_KEY",
      "ANTHROPIC_AUTH_TOKEN",
      "CLAUDE_CODE_OAUTH_TOKEN",
      "CLAUDE_CODE_USE_BEDROCK",
      "CLAUDE_CODE_USE_VERTEX",
    ],
    file: (env, home) => join(env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), ".credentials.json"),
  },
  {
    name: "codex",
    variable: "BLEMEESD_CODEX",
    install: "npm install -g @openai/codex",
    login: "run `codex login`",
    keys: ["OPENAI_API_KEY", "CODEX_API_KEY"],
    file: (env, home) => join(env["CODEX_HOME"] || join(home, ".codex"), "auth.json"),
  },
];

const VERSION_TIMEOUT_MS = 8_000;

export async function checkAgents({ env, signal }: CheckContext): Promise<Check[]> {
  return Promise.all(
    AGENTS.map(async ({ name, variable, install }): Promise<Check> => {
      const wanted = env[variable] || name;
      const program = await findProgram(wanted, env);
      if (program === undefined) {
        const todo = `install it (${install}), or set ${variable} to its path`;
        return { name, status: "warn", text: `${wanted} not found`, todo };
      }
      const version = await readVersion(program, signal);
      return version === undefined
        ? { name, status: "fail", text: `${program} --version failed`, todo: "run it to see why" }
        : addTested({ name, status: "ok", text: `${version} (${program})` }, name, version);
    }),
  );
}

/** One more row if no agent is ready. */
export function checkAny(agents: readonly Check[]): Check[] {
  if (agents.some(({ status }) => status === "ok")) return [];
  const text = "no agent is ready except the demo";
  return [{ name: "agents", status: "warn", text, todo: 'try: sm spawn demo "use a tool"' }];
}

/** One row for each installed agent. */
export async function checkLogins({ env }: CheckContext): Promise<Check[]> {
  const home = env["HOME"] || homedir();
  const checks = AGENTS.map(async ({ name, variable, keys, file, login }): Promise<Check[]> => {
    if ((await findProgram(env[variable] || name, env)) === undefined) return [];
    const label = `${name} login`;
    const key = keys.find((candidate) => env[candidate]);
    const path = file(env, home);
    if (existsSync(path)) return [{ name: label, status: "ok", text: path }];
    if (key !== undefined) return [{ name: label, status: "ok", text: `${key} is set in this shell` }];
    if (process.platform === "darwin" && name === "claude")
      return [{ name: label, status: "ok", text: "no file; on macOS the login may be in the keychain" }];
    return [{ name: label, status: "warn", text: "no login found", todo: login }];
  });
  return (await Promise.all(checks)).flat();
}

export function readVersion(program: string, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, ["--version"], { timeout: VERSION_TIMEOUT_MS, signal }, (error, stdout) => {
      resolve(error === null ? (stdout.split("\n")[0] ?? "").slice(0, 80) : undefined);
    });
  });
}
