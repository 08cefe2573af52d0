// `options.claude.*`: what a client may set, what is refused, and the command line it becomes.

import * as z from "zod";
import { PROMPT_FLAGS, STREAM_FLAGS } from "../../base/claude-wire/flags.ts";
import { CodedError } from "../../base/coded-error.ts";
import { explainIssues } from "../../base/schema.ts";
import { omitNulls } from "../../base/values.ts";
import { type ArgRow, optionsToArgv, withoutNul } from "../argv.ts";
import { SERVER_NAME } from "./tool-server.ts";

export const PERMISSION_MODES = [
  "acceptEdits",
  "auto",
  "bypassPermissions",
  "default",
  "dontAsk",
  "plan",
] as const;

const text = z.string().nullish();
const list = z.array(z.string()).nullish();
const flag = z.boolean().nullish();
const json = z.union([z.string(), z.record(z.string(), z.unknown())]).nullish();

/** `null` means unset: older clients send it. */
export const ClaudeOptions = z.strictObject({
  model: text,
  system_prompt: text,
  append_system_prompt: text,
  /** An empty string disables all tools. */
  tools: text,
  disallowed_tools: list,
  permission_mode: z.enum(PERMISSION_MODES).nullish(),
  cwd: z.string().min(1).nullish(),
  add_dir: list,
  effort: text,
  agent: text,
  agents: json,
  mcp_config: list,
  strict_mcp_config: flag,
  settings: text,
  setting_sources: text,
  plugin_dir: list,
  betas: list,
  exclude_dynamic_system_prompt_sections: flag,
  max_budget_usd: z.number().min(0).nullish(),
  max_turns: z.int().min(1).nullish(),
  max_thinking_tokens: z.int().min(0).nullish(),
  /** `adaptive` or `disabled`. */
  thinking: text,
  json_schema: json,
  fallback_model: text,
  session_name: text,
  session_persistence: flag,
  include_partial_messages: flag,
  user_echo: flag,
  include_raw_events: flag,
  /** Ask the clients of the session before a tool runs, instead of refusing it. */
  approvals: flag,
  /** For the blemees/1 dialect: every native event is logged once, as `raw`. */
  native_events: flag,
});

/** Without the nulls. */
export type ClaudeOptions = {
  [K in keyof z.infer<typeof ClaudeOptions>]?: NonNullable<z.infer<typeof ClaudeOptions>[K]>;
};

/** In the order of the reference implementation, which tools that compare command lines rely on. */
export const CLAUDE_ARGS: readonly ArgRow[] = [
  { option: "model", flag: "--model", kind: "value" },
  { option: "system_prompt", flag: "--system-prompt", kind: "text" },
  { option: "append_system_prompt", flag: "--append-system-prompt", kind: "text" },
  { option: "tools", flag: "--tools", kind: "value" },
  { option: "disallowed_tools", flag: "--disallowedTools", kind: "list" },
  { option: "permission_mode", flag: "--permission-mode", kind: "value" },
  { option: "add_dir", flag: "--add-dir", kind: "list" },
  { option: "effort", flag: "--effort", kind: "value" },
  { option: "agent", flag: "--agent", kind: "value" },
  { option: "agents", flag: "--agents", kind: "json" },
  { option: "mcp_config", flag: "--mcp-config", kind: "list" },
  { option: "strict_mcp_config", flag: "--strict-mcp-config", kind: "on" },
  { option: "settings", flag: "--settings", kind: "value" },
  { option: "setting_sources", flag: "--setting-sources", kind: "value" },
  { option: "plugin_dir", flag: "--plugin-dir", kind: "repeat" },
  { option: "betas", flag: "--betas", kind: "list" },
  {
    option: "exclude_dynamic_system_prompt_sections",
    flag: "--exclude-dynamic-system-prompt-sections",
    kind: "on",
  },
  { option: "max_budget_usd", flag: "--max-budget-usd", kind: "value" },
  { option: "max_turns", flag: "--max-turns", kind: "value" },
  { option: "max_thinking_tokens", flag: "--max-thinking-tokens", kind: "value" },
  { option: "thinking", flag: "--thinking", kind: "value" },
  { option: "json_schema", flag: "--json-schema", kind: "json" },
  { option: "fallback_model", flag: "--fallback-model", kind: "value" },
  { option: "session_name", flag: "-n", long: "--name", kind: "text" },
  { option: "session_persistence", flag: "--no-session-persistence", kind: "off" },
  { option: "include_partial_messages", flag: "--include-partial-messages", kind: "on" },
  { option: "user_echo", flag: "--replay-user-messages", kind: "on" },
];

const REFUSED_KEYS: ReadonlySet<string> = new Set([
  "dangerously_skip_permissions",
  "allow_dangerously_skip_permissions",
  "bare",
  "continue",
  "continue_",
  "from_pr",
]);
const FIXED_KEYS: ReadonlySet<string> = new Set(["input_format", "output_format"]);
const REFUSED_FLAGS: ReadonlySet<unknown> = new Set([
  "--dangerously-skip-permissions",
  "--allow-dangerously-skip-permissions",
  "--bare",
  "--continue",
  "--from-pr",
]);
const AT = "/options/claude";

/** Returns the block without nulls. Throws `unsafe_flag` or `invalid_message` with the path of the bad field. */
export function checkClaudeOptions(block: Record<string, unknown>): ClaudeOptions {
  for (const [key, value] of Object.entries(block)) {
    if (REFUSED_KEYS.has(key)) refuse(key, "the daemon does not pass this flag");
    const values: unknown[] = Array.isArray(value) ? value : [value];
    if (values.some((item) => REFUSED_FLAGS.has(item))) refuse(key, "the value is a refused flag");
  }
  const fixed = Object.keys(block).find((key) => FIXED_KEYS.has(key));
  if (fixed !== undefined) {
    throw new CodedError("invalid_message", `${AT}/${fixed}: is always stream-json and cannot be set`);
  }
  const checked = ClaudeOptions.safeParse(block);
  if (!checked.success) throw new CodedError("invalid_message", explainIssues(checked.error.issues, AT));
  const options = omitNulls(checked.data) as ClaudeOptions;
  if (options.cwd !== undefined) withoutNul(options.cwd, `${AT}/cwd`);
  // Built only to refuse at open what would be refused at start.
  buildClaudeArgv({ resume: false, id: "0" }, options);
  return options;
}

export interface Launch {
  resume: boolean;
  id: string;
  /** The daemon's tools are on its control channel. They ask nobody: the session was given them, and limits what they do. */
  hasTools?: boolean;
}

/** The arguments, without the program. */
export function buildClaudeArgv(launch: Launch, options: ClaudeOptions): string[] {
  return [
    "-p",
    "--verbose",
    launch.resume ? "--resume" : "--session-id",
    launch.id,
    ...Object.entries(STREAM_FLAGS).flat(),
    ...optionsToArgv(CLAUDE_ARGS, options, AT),
    ...(options.approvals === true ? Object.entries(PROMPT_FLAGS).flat() : []),
    ...(launch.hasTools === true ? ["--allowedTools", `mcp__${SERVER_NAME}`] : []),
  ];
}

function refuse(key: string, why: string): never {
  throw new CodedError("unsafe_flag", `${AT}/${key}: ${why}`);
}
