// Builds and formats permission prompts: everything that will happen, with control characters made visible.

import { reveal, revealLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import type { ToolPlan } from "../tools/types.ts";
import { formatUnifiedDiff } from "./diff.ts";
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
  /** Grants of an "always"; if empty, it is not offered. */
  keys: readonly GrantKey[];
  /** How long an "always" lasts. */
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
    ...defined({ executor }),
    tool: call.tool,
    title: plan.title,
    ...(plan.invocation === undefined ? {} : { invocation: toInvocation(plan.invocation) }),
    ...defined({ command: plan.command }),
    ...(plan.command === undefined || executor !== undefined ? {} : { sandbox: call.sandbox }),
    ...defined({ cwd: plan.cwd, changes: plan.changes }),
    input: call.input,
    ...(reasons.length === 0 ? {} : { reason: reasons.join("; ") }),
    ...(widens ? { widens } : {}),
    ...(keys.length === 0 ? {} : { always: `${[...new Set(keys.map(describeKey))].join(", ")}, ${span}` }),
  };
}

function toInvocation(planned: NonNullable<ToolPlan["invocation"]>): Invocation {
  const { agent, provider, crossesProvider, receives, handoff, origin } = planned;
  return {
    agent: agent.name,
    provider: provider.key,
    model: provider.model,
    crossesProvider,
    ...defined({ origin }),
    receives,
    handoff,
  };
}

/**
 * For a plain terminal. The command is never shortened. If a diff or handoff is, the last line says so, next to the
 * question; `wholeDiff` shows all of it.
 */
export function formatPromptLines(prompt: PermissionPrompt, options: { wholeDiff?: boolean } = {}): string[] {
  const { lines, most, name } = splitLongPart(prompt);
  const shown = options.wholeDiff === true ? lines : lines.slice(0, most);
  const missing = lines.length - shown.length;
  return [
    `Allow ${formatAgentPath(prompt)} -> ${describeSubject(prompt)}?`,
    ...(prompt.command === undefined ? [] : formatCommand(prompt.command)),
    ...(needsInput(prompt) ? formatInput(prompt.input) : []),
    ...(prompt.cwd === undefined ? [] : [`  in       ${revealLine(prompt.cwd)}${describeDrift(prompt)}`]),
    ...formatSandbox(prompt),
    ...(prompt.reason === undefined ? [] : [`  because  ${revealLine(prompt.reason)}`]),
    ...(prompt.invocation === undefined ? [] : formatInvocation(prompt, prompt.invocation)),
    ...shown,
    ...(prompt.always === undefined ? [] : [`  always   allows ${revealLine(prompt.always)}`]),
    ...(missing === 0
      ? []
      : [`  !! ${missing} of ${lines.length} lines of this ${name} are NOT SHOWN; press d to show all`]),
  ];
}

function splitLongPart({ invocation, changes = [] }: PermissionPrompt): {
  lines: string[];
  most: number;
  name: string;
} {
  if (invocation === undefined) {
    const lines = changes.flatMap((change) => formatUnifiedDiff(change)).map((line) => `  ${reveal(line)}`);
    return { lines, most: MAX_DIFF_LINES, name: "change" };
  }
  // The bar keeps its lines from looking like ours.
  const lines = reveal(invocation.handoff)
    .split("\n")
    .map((line) => `  | ${line}`);
  return { lines, most: MAX_HANDOFF_LINES, name: "handoff" };
}

/** "build > reviewer", from the main agent down. */
function formatAgentPath({ agent, agentPath = [], mainAgent }: PermissionPrompt): string {
  const above = mainAgent ?? (agentPath.includes(agent) ? undefined : agent);
  const path = agentPath.length === 0 ? [agent] : [...(above === undefined ? [] : [above]), ...agentPath];
  return path.map(revealLine).join(" > ");
}

function describeSubject({ invocation, title }: PermissionPrompt): string {
  if (invocation === undefined) return revealLine(title);
  return `agent ${revealLine(invocation.agent)} using provider ${revealLine(invocation.provider)}`;
}

function formatInvocation({ agent }: PermissionPrompt, invocation: Invocation): string[] {
  const { provider, model, crossesProvider, receives, origin } = invocation;
  return [
    ...(origin === undefined ? [] : [`  from     ${revealLine(origin)}`]),
    `  model    ${revealLine(model)}`,
    ...(crossesProvider
      ? [`  sent to  ${revealLine(provider)}, not the provider of ${revealLine(agent)}`]
      : []),
    `  It will receive: ${receives.map(revealLine).join(", ")}. Full text:`,
  ];
}

function needsInput({ command, changes, invocation }: PermissionPrompt): boolean {
  return command === undefined && changes === undefined && invocation === undefined;
}

function formatSandbox({ executor, sandbox }: PermissionPrompt): string[] {
  if (executor !== undefined) return [`  run by   ${revealLine(executor)} itself, outside demian's sandbox`];
  return sandbox === undefined ? [] : [`  sandbox  ${describeSandbox(sandbox)}`];
}

/** Another executor's shell stays open and may have changed its directory. */
function describeDrift({ executor }: PermissionPrompt): string {
  return executor === undefined ? "" : ", or the current directory of its shell";
}

function formatCommand(text: string): string[] {
  return reveal(text)
    .split("\n")
    .map((line, index) => `  ${index === 0 ? "$" : ">"} ${line}`);
}

function formatInput(input: unknown): string[] {
  const text = JSON.stringify(input, undefined, 2) ?? "";
  return reveal(text)
    .split("\n")
    .map((line) => `  ${line}`);
}

function describeSandbox(adapter: string): string {
  if (adapter === "off") return "off: the command can do anything you can";
  if (adapter === "env-only") return "env-only: the command can do anything you can";
  return revealLine(adapter);
}
