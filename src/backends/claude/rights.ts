// The rights of a Claude session, from its options.
import { isObject } from "../../base/json.ts";
import { defined } from "../../base/values.ts";
import {
  type Denied,
  listRoots,
  ORDINARY,
  omitOptions,
  REFUSES,
  type SessionRights,
  WIDEST,
} from "../rights.ts";
import type { ClaudeOptions } from "./options.ts";

/** `auto` lets a model decide what to ask; `dontAsk` refuses what is not allowed by a rule. */
const MODES: Readonly<Record<NonNullable<ClaudeOptions["permission_mode"]>, number>> = {
  plan: 0,
  default: 1,
  dontAsk: 1,
  acceptEdits: 2,
  auto: 3,
  bypassPermissions: 3,
};

/** They give no rights. */
const HARMLESS: readonly (keyof ClaudeOptions)[] = [
  ...([
    "model",
    "fallback_model",
    "effort",
    "betas",
    "max_budget_usd",
    "max_turns",
    "max_thinking_tokens",
    "thinking",
    "json_schema",
    "session_name",
  ] as const),
  ...(["system_prompt", "append_system_prompt", "exclude_dynamic_system_prompt_sections"] as const),
  ...(["session_persistence", "include_partial_messages", "user_echo", "include_raw_events"] as const),
  "native_events",
];
const RATED: readonly (keyof ClaudeOptions)[] = [
  ...(["permission_mode", "approvals", "cwd", "add_dir", "tools", "disallowed_tools"] as const),
  ...(["strict_mcp_config", "mcp_config", "agents"] as const),
];
const KNOWN: ReadonlySet<string> = new Set([...HARMLESS, ...RATED]);
/** Parts of `settings` that restrict nothing. */
const ADDING: ReadonlySet<string> = new Set(["permissions", "model", "env", "enableAllProjectMcpServers"]);
const ADDING_PERMISSIONS: ReadonlySet<string> = new Set(["allow", "additionalDirectories"]);

const READS_ONLY = 0;

export function readClaudeRights(options: ClaudeOptions): SessionRights {
  const mode = MODES[options.permission_mode ?? "default"];
  const isFree = mode === WIDEST.mode;
  const { network } = ORDINARY;
  // What is not asked then only reads. If it is not set, the user's configuration may allow more.
  const isAsking = options.permission_mode !== undefined && mode <= MODES.default;
  const sandbox = isAsking
    ? { level: READS_ONLY }
    : { level: ORDINARY.sandbox, remedy: 'set permission_mode to "default" or "plan"' };
  const option = "permission_mode";
  const { settings, ...code } = omitOptions(options, KNOWN);
  const { mcp_config, agents } = options;
  const isAddition = settings === undefined || onlyAdds(settings);
  return {
    levels: {
      approvals: isFree
        ? { level: WIDEST.approvals, option }
        : { level: options.approvals === true ? ORDINARY.approvals : REFUSES, option: "approvals" },
      mode: { level: mode, option, isSet: options.permission_mode !== undefined },
      // No sandbox limits what was approved.
      sandbox: { ...(isFree ? { level: WIDEST.sandbox } : sandbox), limit: WIDEST.sandbox, option },
      network: { level: isFree ? WIDEST.network : network, limit: WIDEST.network, option },
    },
    roots: listRoots(options, ["cwd", "add_dir"]),
    code: { ...code, ...(isAddition ? {} : { settings }) },
    additions: defined({ mcp_config, agents, settings: isAddition ? settings : undefined }),
    denies: listDenied(options),
  };
}

function listDenied({ disallowed_tools = [], tools, strict_mcp_config }: ClaudeOptions): Denied[] {
  return [
    ...disallowed_tools.map((what) => ({ what, option: "disallowed_tools" })),
    ...(tools === undefined ? [] : [{ what: `all tools but ${JSON.stringify(tools)}`, option: "tools" }]),
    ...(strict_mcp_config === true
      ? [{ what: "MCP servers of the user's configuration", option: "strict_mcp_config" }]
      : []),
  ];
}

/** A file may contain anything. */
function onlyAdds(settings: unknown): boolean {
  const value = typeof settings === "string" ? parse(settings) : undefined;
  if (!isObject(value) || !Object.keys(value).every((key) => ADDING.has(key))) return false;
  const { permissions = {} } = value;
  return isObject(permissions) && Object.keys(permissions).every((key) => ADDING_PERMISSIONS.has(key));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
