// The command line of Claude Code as the Agent SDK and other programs write it: what becomes an option of the session, what
// is a matter of course, and what is refused. Pure.
import { UsageError } from "../command.ts";

export interface ClaudeArguments {
  /** `options.claude` of the session. */
  options: Record<string, unknown>;
  session_id?: string;
  /** The conversation to continue. */
  resume?: string;
  /** Continue the newest conversation of this directory. */
  isContinued: boolean;
  /** Text as it is written, frame by frame. */
  showsPartial: boolean;
  /** Rules that allow tools. */
  allowed: string[];
  /** JSON, or a file that contains it. */
  settings?: string;
  /** JSON, or files. */
  mcp: string[];
}

type Take = (given: ClaudeArguments, value: string, flag: string) => void;

const text =
  (option: string): Take =>
  (given, value) => {
    given.options[option] = value;
  };
const amount =
  (option: string): Take =>
  (given, value, flag) => {
    const number = Number(value);
    if (value.trim() === "" || !Number.isFinite(number) || number < 0)
      throw new UsageError(`${flag} expects a number, not "${value}"`);
    given.options[option] = number;
  };
const list =
  (option: string): Take =>
  (given, value) => {
    const before = given.options[option];
    given.options[option] = [...(Array.isArray(before) ? before : []), ...splitList(value)];
  };
/** Only this value. */
const only =
  (wanted: string): Take =>
  (_given, value, flag) => {
    if (value !== wanted) throw new UsageError(`${flag} ${value} is not supported: use ${flag} ${wanted}`);
  };

/** Flags with a value. */
const VALUES: Readonly<Record<string, Take>> = {
  "--output-format": only("stream-json"),
  "--input-format": only("stream-json"),
  "--permission-prompt-tool": (given, value, flag) => {
    only("stdio")(given, value, flag);
    given.options["approvals"] = true;
  },
  "--model": text("model"),
  "--fallback-model": text("fallback_model"),
  "--effort": text("effort"),
  "--agent": text("agent"),
  "--agents": text("agents"),
  "--system-prompt": text("system_prompt"),
  "--append-system-prompt": text("append_system_prompt"),
  "--permission-mode": text("permission_mode"),
  "--tools": text("tools"),
  "--disallowedTools": list("disallowed_tools"),
  "--disallowed-tools": list("disallowed_tools"),
  "--allowedTools": (given, value) => void given.allowed.push(...splitList(value)),
  "--allowed-tools": (given, value) => void given.allowed.push(...splitList(value)),
  "--add-dir": (given, value) => {
    const before = given.options["add_dir"];
    given.options["add_dir"] = [...(Array.isArray(before) ? before : []), value];
  },
  "--betas": list("betas"),
  "--json-schema": text("json_schema"),
  "--setting-sources": text("setting_sources"),
  "--plugin-dir": list("plugin_dir"),
  "--name": text("session_name"),
  "-n": text("session_name"),
  "--max-budget-usd": amount("max_budget_usd"),
  "--max-turns": amount("max_turns"),
  "--max-thinking-tokens": amount("max_thinking_tokens"),
  "--thinking": text("thinking"),
  "--settings": (given, value) => {
    given.settings = value;
  },
  "--mcp-config": (given, value) => void given.mcp.push(value),
  "--session-id": (given, value) => {
    given.session_id = value;
  },
  "--resume": (given, value) => {
    given.resume = value;
  },
  "-r": (given, value) => {
    given.resume = value;
  },
  // About claude's own log.
  "--debug-file": () => undefined,
};

/** Flags without a value. */
const SWITCHES: Readonly<Record<string, (given: ClaudeArguments) => void>> = {
  // Always so.
  "-p": () => undefined,
  "--print": () => undefined,
  "--verbose": () => undefined,
  "--debug": () => undefined,
  "--debug-to-stderr": () => undefined,
  // Only makes the permission mode possible, which says what is wanted.
  "--allow-dangerously-skip-permissions": () => undefined,
  "--continue": (given) => {
    given.isContinued = true;
  },
  "-c": (given) => {
    given.isContinued = true;
  },
  "--include-partial-messages": (given) => {
    given.showsPartial = true;
  },
  "--replay-user-messages": ({ options }) => {
    options["user_echo"] = true;
  },
  "--no-session-persistence": ({ options }) => {
    options["session_persistence"] = false;
  },
  "--strict-mcp-config": ({ options }) => {
    options["strict_mcp_config"] = true;
  },
};

const REFUSED: Readonly<Record<string, string>> = {
  "--dangerously-skip-permissions": "use --permission-mode bypassPermissions",
  "--fork-session": "resume the session itself, or start a new one",
  "--bare": "the daemon does not pass this flag",
};

/** Throws a UsageError that names the flag. */
export function readArguments(argv: readonly string[]): ClaudeArguments {
  const given: ClaudeArguments = {
    options: {},
    isContinued: false,
    showsPartial: false,
    allowed: [],
    mcp: [],
  };
  const words = [...argv];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const at = word.startsWith("--") ? word.indexOf("=") : -1;
    const flag = at < 0 ? word : word.slice(0, at);
    const turnOn = SWITCHES[flag];
    const take = VALUES[flag];
    if (turnOn !== undefined && at < 0) turnOn(given);
    else if (take === undefined) throw refuse(flag);
    else {
      const value = at < 0 ? words.shift() : word.slice(at + 1);
      if (value === undefined) throw new UsageError(`${flag} needs a value`);
      take(given, value, flag);
    }
  }
  if (given.resume !== undefined && given.isContinued)
    throw new UsageError("--resume and --continue exclude each other");
  return given;
}

function refuse(flag: string): UsageError {
  const why = REFUSED[flag];
  if (why !== undefined) return new UsageError(`${flag} is not supported: ${why}`);
  if (flag.startsWith("-")) return new UsageError(`${flag} is not supported by blemees claude`);
  return new UsageError(
    `a prompt on the command line is not supported: "${flag}"; write user frames to stdin (--input-format stream-json)`,
  );
}

/** `Bash(git log:*),Read`: separated by commas or spaces outside of parentheses. */
function splitList(value: string): string[] {
  return [...value.matchAll(/(?:[^,\s(]|\([^)]*\))+/g)].map(([word]) => word);
}
