// The command line of blemeesd, generated from the table of settings.
import { parseArgs } from "node:util";
import { CodedError, toMessage } from "../base/coded-error.ts";
import { pickNearest } from "../base/nearest.ts";
import { CONFIG_KEYS, type ConfigKey, type ConfigName, formatDefault } from "./config-keys.ts";

export interface Flags {
  values: Partial<Record<ConfigName, string>>;
  config?: string;
  /** Replace the running daemon. */
  takeover: boolean;
  help: boolean;
  version: boolean;
}

const OWN = ["config", "takeover", "help", "version"];

export function parseFlags(argv: readonly string[]): Flags {
  const byFlag = new Map<string, ConfigName>();
  for (const name of Object.keys(CONFIG_KEYS) as ConfigName[]) {
    const key: ConfigKey = CONFIG_KEYS[name];
    if (key.flag !== undefined) byFlag.set(key.flag, name);
  }
  let parsed: Record<string, string | boolean | undefined>;
  try {
    parsed = parseArgs({
      args: withValues(argv, byFlag),
      options: {
        ...Object.fromEntries([...byFlag.keys()].map((flag) => [flag, { type: "string" as const }])),
        config: { type: "string" },
        takeover: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean" },
      },
    }).values;
  } catch (cause) {
    throw new CodedError("invalid_message", explain(cause, argv, [...byFlag.keys(), ...OWN]), { cause });
  }
  const values: Flags["values"] = {};
  for (const [flag, name] of byFlag) {
    const value = parsed[flag];
    if (typeof value === "string") values[name] = value;
  }
  const { config } = parsed;
  return {
    values,
    ...(typeof config === "string" ? { config } : {}),
    takeover: parsed["takeover"] === true,
    help: parsed["help"] === true,
    version: parsed["version"] === true,
  };
}

export function formatHelp(): string {
  const rows: [string, string][] = [];
  const others: [string, string][] = [];
  for (const name of Object.keys(CONFIG_KEYS) as ConfigName[]) {
    const key: ConfigKey = CONFIG_KEYS[name];
    const text = `${key.meaning} [${formatDefault(name)}]`;
    if (key.flag === undefined) others.push([key.env, text]);
    else rows.push([`--${key.flag} ${key.alone === undefined ? "VALUE" : "[VALUE]"}`, text]);
  }
  return [
    "Usage: blemeesd [options]",
    "",
    "Runs coding agents as managed sessions for this user, on one Unix socket.",
    "",
    "Examples:",
    "  blemeesd --log-level debug --socket /run/user/1000/test.sock",
    "  blemeesd --takeover",
    "",
    "Options:",
    ...align([
      ...rows,
      ["--config FILE", "Config file, in TOML. [~/.config/blemeesd/config.toml]"],
      ["--takeover", "If a daemon is running on the socket, replace it and continue with its agents."],
      ["--version", "Print the version."],
      ["-h, --help", "Print this help."],
    ]),
    "",
    "Every setting is also an environment variable (BLEMEESD_…) and a key of the config file. Settings without a flag:",
    ...align(others),
    "",
  ].join("\n");
}

/** Adds the default value to a flag without an argument. */
function withValues(argv: readonly string[], byFlag: ReadonlyMap<string, ConfigName>): string[] {
  return argv.map((arg, at) => {
    const name = byFlag.get(arg.replace(/^--/, ""));
    const key: ConfigKey | undefined =
      name === undefined || !arg.startsWith("--") ? undefined : CONFIG_KEYS[name];
    const next = argv[at + 1];
    const isAlone = next === undefined || next.startsWith("-");
    return key?.alone !== undefined && isAlone ? `${arg}=${key.alone}` : arg;
  });
}

function align(rows: [string, string][]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

function explain(cause: unknown, argv: readonly string[], flags: string[]): string {
  for (const arg of argv) {
    const name = /^--([^=]+)/.exec(arg)?.[1];
    if (name === undefined || flags.includes(name)) continue;
    const guess = pickNearest(name, flags);
    return `unknown option --${name}${guess === undefined ? "" : `; did you mean --${guess}?`} (see blemeesd --help)`;
  }
  return `${toMessage(cause).split(". ")[0]} (see blemeesd --help)`;
}
