// From an order to the command line of `claude`, with no flag that the installed version does not know.
import type { Capabilities } from "./cli-capabilities.ts";
import { claudeSettings } from "./tools.ts";
import { ClaudeFailure, type ClaudeOrder } from "./transport.ts";

export interface CliArgs {
  args: string[];
  /** Sentences about what this version cannot do. */
  missing: string[];
}

interface FlagRow {
  flag: string;
  /** Undefined: not wanted. True: a flag without a value. */
  value(order: ClaudeOrder): string | true | undefined;
  /** What goes without it; absent: then nothing goes. */
  without?: string;
  /** Works, and its help does not list it (2.1.197). */
  isHidden?: true;
}

const ROWS: readonly FlagRow[] = [
  { flag: "--print", value: () => true },
  { flag: "--verbose", value: () => true },
  { flag: "--input-format", value: () => "stream-json" },
  { flag: "--output-format", value: () => "stream-json" },
  { flag: "--permission-prompt-tool", value: () => "stdio", isHidden: true },
  {
    flag: "--include-partial-messages",
    value: () => true,
    without: "answers appear when they are complete, not word by word",
  },
  { flag: "--model", value: ({ model }) => model },
  { flag: "--max-turns", value: ({ maxTurns }) => String(maxTurns), isHidden: true },
  {
    flag: "--max-budget-usd",
    value: ({ maxBudgetUsd }) => (maxBudgetUsd === undefined ? undefined : String(maxBudgetUsd)),
    without: "the budget is looked at between messages only",
  },
  { flag: "--permission-mode", value: ({ permissionMode }) => permissionMode },
  { flag: "--resume", value: ({ resume }) => resume },
  // None: a workspace's settings run programs (hooks), the user's can replace the login (apiKeyHelper, env).
  { flag: "--setting-sources", value: () => "" },
  { flag: "--strict-mcp-config", value: () => true },
  { flag: "--settings", value: ({ unreadable }) => JSON.stringify(claudeSettings(unreadable)) },
  { flag: "--tools", value: ({ tools }) => tools.join(",") },
  { flag: "--bare", value: ({ bare }) => (bare === true ? true : undefined) },
];

/** Throws `ClaudeFailure` where a flag is missing without which it must not run. */
export function cliArgs(order: ClaudeOrder, { flags, version }: Capabilities): CliArgs {
  const args: string[] = [];
  const missing: string[] = [];
  for (const { flag, value, without, isHidden } of ROWS) {
    const given = value(order);
    if (given === undefined) continue;
    if (flags === undefined || isHidden === true || flags.has(flag)) args.push(...written(flag, given));
    else if (without !== undefined) missing.push(`Claude Code ${version} does not know ${flag}: ${without}`);
    else {
      throw new ClaudeFailure(
        "start_failed",
        `Claude Code ${version} does not know ${flag}, which is needed here; update it (\`claude update\`) or use runtime: "agent-sdk"`,
      );
    }
  }
  return { args, missing };
}

/** A value that begins with a dash would be taken for a flag. */
function written(flag: string, value: string | true): string[] {
  if (value === true) return [flag];
  return value.startsWith("-") ? [`${flag}=${value}`] : [flag, value];
}
