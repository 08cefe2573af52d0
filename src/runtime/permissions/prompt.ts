// What a person is shown before they decide: everything that will happen, with nothing that looks like something else.
import { reveal, revealLine } from "../../base/sanitize.ts";
import type { ToolPlan } from "../tools/types.ts";
import { unifiedDiff } from "./diff.ts";
import { describeKey } from "./grant-key.ts";
import type { GrantKey, PermissionPrompt } from "./types.ts";

export interface PromptParts {
  tool: string;
  input: unknown;
  plan: ToolPlan;
  agent: string;
  sessionId: string;
  callId: string;
  sandbox: string;
  /** From rules and hooks. */
  reasons: readonly string[];
  /** What "always" would remember; empty: it is not offered. */
  keys: readonly GrantKey[];
  /** How long it would be remembered, in words. */
  span: string;
}

const MAX_DIFF_LINES = 400;

export function makePrompt(parts: PromptParts): PermissionPrompt {
  const { plan, keys, reasons } = parts;
  return {
    sessionId: parts.sessionId,
    callId: parts.callId,
    agent: parts.agent,
    tool: parts.tool,
    title: plan.title,
    ...(plan.command === undefined ? {} : { command: plan.command, sandbox: parts.sandbox }),
    ...(plan.cwd === undefined ? {} : { cwd: plan.cwd }),
    ...(plan.changes === undefined ? {} : { changes: plan.changes }),
    input: parts.input,
    ...(reasons.length === 0 ? {} : { reason: reasons.join("; ") }),
    ...(keys.length === 0
      ? {}
      : { always: `${[...new Set(keys.map(describeKey))].join(", ")}, ${parts.span}` }),
  };
}

/** For a terminal. The command is never shortened. Of a long diff the last line, next to the question, says what is missing. */
export function promptLines(prompt: PermissionPrompt, options: { wholeDiff?: boolean } = {}): string[] {
  const diff = (prompt.changes ?? []).flatMap((change) => unifiedDiff(change));
  const most = options.wholeDiff === true ? diff.length : MAX_DIFF_LINES;
  return [
    `Allow ${revealLine(prompt.agent)} -> ${revealLine(prompt.title)}?`,
    ...(prompt.command === undefined ? [] : indented(prompt.command)),
    ...(prompt.command === undefined && prompt.changes === undefined ? inputLines(prompt.input) : []),
    ...(prompt.cwd === undefined ? [] : [`  in       ${revealLine(prompt.cwd)}`]),
    ...(prompt.sandbox === undefined ? [] : [`  sandbox  ${describeSandbox(prompt.sandbox)}`]),
    ...(prompt.reason === undefined ? [] : [`  because  ${revealLine(prompt.reason)}`]),
    ...diff.slice(0, most).map((line) => `  ${reveal(line)}`),
    ...(prompt.always === undefined ? [] : [`  always   allows ${revealLine(prompt.always)}`]),
    ...(diff.length <= most
      ? []
      : [
          `  !! ${diff.length - most} of ${diff.length} lines of this change are NOT SHOWN; d shows them all`,
        ]),
  ];
}

function indented(text: string): string[] {
  return reveal(text)
    .split("\n")
    .map((line, index) => `  ${index === 0 ? "$" : ">"} ${line}`);
}

function inputLines(input: unknown): string[] {
  const text = JSON.stringify(input, undefined, 2) ?? "";
  return reveal(text)
    .split("\n")
    .map((line) => `  ${line}`);
}

function describeSandbox(adapter: string): string {
  if (adapter === "off") return "off: the command can do everything that you can";
  if (adapter === "env-only") return "env-only: the command can do everything that you can";
  return revealLine(adapter);
}
