// The command line of `claude` for an order, limited to flags that the installed version knows.
import { PROMPT_FLAGS, STREAM_FLAGS } from "../../../base/claude-wire/flags.ts";
import type { Capabilities } from "./cli-capabilities.ts";
import { buildClaudeSettings } from "./tools.ts";
import { ClaudeFailure, type ClaudeOrder } from "./transport.ts";

export interface CliArgs {
  args: string[];
  /** Warnings about what this version cannot do. */
  missing: string[];
}

interface FlagRow {
  flag: string;
  /** Undefined: not needed. True: a flag without a value. */
  value(order: ClaudeOrder): string | true | undefined;
  /** The consequence of a missing flag; absent if Claude Code must not run without it. */
  without?: string;
  /** Works, but its help does not list it (2.1.197). */
  isHidden?: true;
}

const toFixedRows = (flags: object) =>
  Object.entries(flags).map(([flag, value]) => ({ flag, value: () => value }));

const ROWS: readonly FlagRow[] = [
  { flag: "--print", value: () => true },
  { flag: "--verbose", value: () => true },
  ...toFixedRows(STREAM_FLAGS),
  ...toFixedRows(PROMPT_FLAGS).map((row) => ({ ...row, isHidden: true as const })),
  {
    flag: "--include-partial-messages",
    value: () => true,
    without: "answers appear only when complete",
  },
  { flag: "--model", value: ({ model }) => model },
  { flag: "--effort", value: ({ effort }) => effort, without: "its default effort is used" },
  { flag: "--max-turns", value: ({ maxTurns }) => String(maxTurns), isHidden: true },
  {
    flag: "--max-budget-usd",
    value: ({ maxBudgetUsd }) => (maxBudgetUsd === undefined ? undefined : String(maxBudgetUsd)),
    without: "the budget is only checked between messages",
  },
  { flag: "--permission-mode", value: ({ permissionMode }) => permissionMode },
  { flag: "--resume", value: ({ resume }) => resume },
  // None: a workspace's settings can run programs (hooks), the user's can replace the login (apiKeyHelper, env).
  { flag: "--setting-sources", value: () => "" },
  { flag: "--strict-mcp-config", value: () => true },
  { flag: "--settings", value: ({ unreadable }) => JSON.stringify(buildClaudeSettings(unreadable)) },
  { flag: "--tools", value: ({ tools }) => tools.join(",") },
  { flag: "--bare", value: ({ bare }) => (bare === true ? true : undefined) },
];

/** Throws `ClaudeFailure` if a required flag is missing. */
export function toCliArgs(order: ClaudeOrder, { flags, version }: Capabilities): CliArgs {
  const args: string[] = [];
  const missing: string[] = [];
  for (const { flag, value, without, isHidden } of ROWS) {
    const given = value(order);
    if (given === undefined) continue;
    if (flags === undefined || isHidden === true || flags.has(flag)) args.push(...toArgs(flag, given));
    else if (without !== undefined)
      missing.push(`Claude Code ${version} does not support ${flag}: ${without}`);
    else {
      throw new ClaudeFailure(
        "start_failed",
        `Claude Code ${version} does not support ${flag}, which demian requires; update it with \`claude update\`, or set runtime: "agent-sdk"`,
      );
    }
  }
  return { args, missing };
}

/** A value that starts with a dash would be read as a flag. */
function toArgs(flag: string, value: string | true): string[] {
  if (value === true) return [flag];
  return value.startsWith("-") ? [`${flag}=${value}`] : [flag, value];
}
