// The agents: are they there, which version, can they log in. Only what can be seen without a network; the contents
// of credential files are not read.
import { execFile } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import type { Check, Patient } from "./check.ts";
import { withTested } from "./tested.ts";

interface Agent {
  name: string;
  /** The environment variable that names its program for the daemon. */
  variable: string;
  install: string;
  login: string;
  /** Any of these in the environment is a login. */
  keys: readonly string[];
  /** Where it keeps its login. */
  file(env: Patient["env"], home: string): string;
}

const AGENTS: readonly Agent[] = [
  {
    name: "claude",
    variable: "BLEMEESD_CLAUDE",
    install: "npm install -g @anthropic-ai/claude-code",
    login: "run `claude` once and log in, or set ANTHROPIC_API_KEY where the daemon is started",
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

export async function checkAgents({ env, signal }: Patient): Promise<Check[]> {
  return Promise.all(
    AGENTS.map(async ({ name, variable, install }): Promise<Check> => {
      const wanted = env[variable] || name;
      const program = findOnPath(wanted, env);
      if (program === undefined) {
        const todo = `install it (${install}), or set ${variable} to its program`;
        return { name, status: "warn", text: `${wanted} was not found`, todo };
      }
      const version = await versionOf(program, signal);
      return version === undefined
        ? { name, status: "fail", text: `${program} --version fails`, todo: "run it by hand to see why" }
        : withTested({ name, status: "ok", text: `${version} (${program})` }, name, version);
    }),
  );
}

/** A row more when none of them can work. */
export function checkAny(agents: readonly Check[]): Check[] {
  if (agents.some(({ status }) => status === "ok")) return [];
  const text = "no agent is ready, only the demo works";
  return [{ name: "agents", status: "warn", text, todo: 'try: sm spawn demo "use a tool"' }];
}

/** One line for each agent that is there. */
export async function checkLogins({ env }: Patient): Promise<Check[]> {
  const home = env["HOME"] || homedir();
  return AGENTS.filter(({ name, variable }) => findOnPath(env[variable] || name, env) !== undefined).map(
    ({ name, keys, file, login }): Check => {
      const label = `${name} login`;
      const key = keys.find((candidate) => env[candidate]);
      const path = file(env, home);
      if (existsSync(path)) return { name: label, status: "ok", text: path };
      if (key !== undefined) return { name: label, status: "ok", text: `${key} is set in this shell` };
      if (process.platform === "darwin" && name === "claude")
        return { name: label, status: "ok", text: "no file; on macOS it may be in the keychain" };
      return { name: label, status: "warn", text: "no login found", todo: login };
    },
  );
}

/** The program that a shell would run. */
export function findOnPath(program: string, env: Patient["env"]): string | undefined {
  const candidates =
    isAbsolute(program) || program.includes("/")
      ? [program]
      : (env["PATH"] ?? "")
          .split(delimiter)
          .filter(isAbsolute)
          .map((directory) => join(directory, program));
  return candidates.find((candidate) => {
    try {
      accessSync(candidate, constants.X_OK);
      return true;
    } catch {
      return false; // not there, or not to be run
    }
  });
}

export function versionOf(program: string, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, ["--version"], { timeout: VERSION_TIMEOUT_MS, signal }, (error, stdout) => {
      resolve(error === null ? (stdout.split("\n")[0] ?? "").slice(0, 80) : undefined);
    });
  });
}
