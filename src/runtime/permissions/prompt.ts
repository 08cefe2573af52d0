// What a person is shown before they decide: everything that will happen, with nothing that looks like something else.
import { reveal, revealLine } from "../../base/sanitize.ts";
import type { ToolPlan } from "../tools/types.ts";
import { unifiedDiff } from "./diff.ts";
import { describeKey } from "./grant-key.ts";
import type { GrantKey, PermissionPrompt } from "./types.ts";

export interface PromptParts {
  call: {
    tool: string;
    input: unknown;
    plan: ToolPlan;
    agent: { name: string };
    agentPath?: readonly string[] | undefined;
    mainAgent?: string | undefined;
    executor?: string | undefined;
    sessionId: string;
    callId: string;
    sandbox: string;
  };
  /** The agent's own rules deny it. */
  widens: boolean;
  /** From rules and hooks. */
  reasons: readonly string[];
  /** What "always" would remember; empty: it is not offered. */
  keys: readonly GrantKey[];
  /** How long it would be remembered, in words. */
  span: string;
}

type Invocation = NonNullable<PermissionPrompt["invocation"]>;

const MAX_DIFF_LINES = 400;
const MAX_HANDOFF_LINES = 120;

export function makePrompt({ call, widens, reasons, keys, span }: PromptParts): PermissionPrompt {
  const { plan, executor, agentPath = [], mainAgent } = call;
  const isSubAgent = agentPath.length > 0;
  return {
    sessionId: call.sessionId,
    callId: call.callId,
    agent: call.agent.name,
    ...(isSubAgent ? { agentPath } : {}),
    ...(isSubAgent && mainAgent !== undefined ? { mainAgent } : {}),
    ...(executor === undefined ? {} : { executor }),
    tool: call.tool,
    title: plan.title,
    ...(plan.invocation === undefined ? {} : { invocation: invocationOf(plan.invocation) }),
    ...(plan.command === undefined ? {} : { command: plan.command }),
    ...(plan.command === undefined || executor !== undefined ? {} : { sandbox: call.sandbox }),
    ...(plan.cwd === undefined ? {} : { cwd: plan.cwd }),
    ...(plan.changes === undefined ? {} : { changes: plan.changes }),
    input: call.input,
    ...(reasons.length === 0 ? {} : { reason: reasons.join("; ") }),
    ...(widens ? { widens } : {}),
    ...(keys.length === 0 ? {} : { always: `${[...new Set(keys.map(describeKey))].join(", ")}, ${span}` }),
  };
}

function invocationOf(planned: NonNullable<ToolPlan["invocation"]>): Invocation {
  const { agent, provider, crossesProvider, receives, handoff, origin } = planned;
  return {
    agent: agent.name,
    provider: provider.key,
    model: provider.model,
    crossesProvider,
    ...(origin === undefined ? {} : { origin }),
    receives,
    handoff,
  };
}

/**
 * For a terminal. The command is never shortened. Of a long diff or handoff the last line, next to the question, says what
 * is missing; `wholeDiff` shows it.
 */
export function promptLines(prompt: PermissionPrompt, options: { wholeDiff?: boolean } = {}): string[] {
  const { lines, most, name } = longPart(prompt);
  const shown = options.wholeDiff === true ? lines : lines.slice(0, most);
  const missing = lines.length - shown.length;
  return [
    `Allow ${askerOf(prompt)} -> ${subjectOf(prompt)}?`,
    ...(prompt.command === undefined ? [] : indented(prompt.command)),
    ...(isShownByInput(prompt) ? inputLines(prompt.input) : []),
    ...(prompt.cwd === undefined ? [] : [`  in       ${revealLine(prompt.cwd)}${driftOf(prompt)}`]),
    ...holdLines(prompt),
    ...(prompt.reason === undefined ? [] : [`  because  ${revealLine(prompt.reason)}`]),
    ...(prompt.invocation === undefined ? [] : invocationLines(prompt, prompt.invocation)),
    ...shown,
    ...(prompt.always === undefined ? [] : [`  always   allows ${revealLine(prompt.always)}`]),
    ...(missing === 0
      ? []
      : [`  !! ${missing} of ${lines.length} lines of this ${name} are NOT SHOWN; d shows them all`]),
  ];
}

function longPart({ invocation, changes = [] }: PermissionPrompt): {
  lines: string[];
  most: number;
  name: string;
} {
  if (invocation === undefined) {
    const lines = changes.flatMap((change) => unifiedDiff(change)).map((line) => `  ${reveal(line)}`);
    return { lines, most: MAX_DIFF_LINES, name: "change" };
  }
  // Behind a bar, so that no line of it looks like one of ours.
  const lines = reveal(invocation.handoff)
    .split("\n")
    .map((line) => `  | ${line}`);
  return { lines, most: MAX_HANDOFF_LINES, name: "handoff" };
}

/** "build > reviewer", from the main agent down to the one that wants it. */
function askerOf({ agent, agentPath = [], mainAgent }: PermissionPrompt): string {
  const above = mainAgent ?? (agentPath.includes(agent) ? undefined : agent);
  const path = agentPath.length === 0 ? [agent] : [...(above === undefined ? [] : [above]), ...agentPath];
  return path.map(revealLine).join(" > ");
}

function subjectOf({ invocation, title }: PermissionPrompt): string {
  if (invocation === undefined) return revealLine(title);
  return `agent ${revealLine(invocation.agent)} using provider ${revealLine(invocation.provider)}`;
}

function invocationLines({ agent }: PermissionPrompt, invocation: Invocation): string[] {
  const { provider, model, crossesProvider, receives, origin } = invocation;
  return [
    ...(origin === undefined ? [] : [`  from     ${revealLine(origin)}`]),
    `  model    ${revealLine(model)}`,
    ...(crossesProvider
      ? [
          `  sent to  ${revealLine(provider)}, which is another provider than the one that ${revealLine(agent)} uses`,
        ]
      : []),
    `  It will receive: ${receives.map(revealLine).join(", ")}. Word for word:`,
  ];
}

function isShownByInput({ command, changes, invocation }: PermissionPrompt): boolean {
  return command === undefined && changes === undefined && invocation === undefined;
}

function holdLines({ executor, sandbox }: PermissionPrompt): string[] {
  if (executor !== undefined)
    return [`  run by   ${revealLine(executor)} itself, outside of demian's sandbox`];
  return sandbox === undefined ? [] : [`  sandbox  ${describeSandbox(sandbox)}`];
}

/** A shell that stays open keeps the directory of its last "cd". */
function driftOf({ executor }: PermissionPrompt): string {
  return executor === undefined ? "" : ", or where its shell went since";
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
  if (adapter === "off") return "off: the command can do everything you can";
  if (adapter === "env-only") return "env-only: the command can do everything you can";
  return revealLine(adapter);
}
