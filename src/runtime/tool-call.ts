// One tool call from the model's wish to the message that it reads: check, hooks, permission, execution. Whatever
// happens on the way is an answer for the model, never an exception.
import { messageOf } from "../base/coded-error.ts";
import type { AgentDefinition } from "./agents/types.ts";
import { DELEGATE_TOOL } from "./delegation/types.ts";
import type { ToolFailure } from "./events.ts";
import type { HookOutcome } from "./hooks/types.ts";
import type { ToolCall, ToolMessage } from "./messages.ts";
import type { Decision } from "./permissions/types.ts";
import { denial, permitted } from "./permitted.ts";
import type { TokenUsage } from "./providers/types.ts";
import { hookInput, type Services } from "./services.ts";
import {
  type ToolContext,
  type ToolDefinition,
  ToolError,
  type ToolPlan,
  type ToolResult,
} from "./tools/types.ts";

export interface CallOutcome {
  message: ToolMessage;
  /** The person wants no more of this turn. */
  stop: boolean;
  /** What a sub-agent spent for it. */
  usage?: TokenUsage;
}

/** Ends the call on its way. */
class CallFailed extends Error {
  readonly reason: ToolFailure;
  readonly stop: boolean;

  constructor(reason: ToolFailure, message: string, stop = false) {
    super(message);
    this.reason = reason;
    this.stop = stop;
  }
}

const PREVIEW_CHARACTERS = 200;

export async function runToolCall(
  services: Services,
  call: ToolCall,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const startedMs = Date.now();
  services.emit({ type: "tool.requested", callId: call.id, name: call.name, input: call.input });
  const told = (content: string) => ({
    callId: call.id,
    name: call.name,
    preview: previewOf(content),
    content,
    durationMs: Date.now() - startedMs,
  });
  try {
    const result = await perform(services, call, signal);
    const metadata = result.metadata === undefined ? {} : { metadata: result.metadata };
    if (result.ok) services.emit({ type: "tool.completed", ok: true, ...told(result.content), ...metadata });
    else {
      const reason = signal.aborted ? "aborted" : "failed";
      services.emit({ type: "tool.failed", ok: false, reason, ...told(result.content), ...metadata });
    }
    return {
      message: answer(call, result.content, !result.ok),
      stop: result.stop === true,
      ...(result.usage === undefined ? {} : { usage: result.usage }),
    };
  } catch (error) {
    const failure = toFailure(error, signal);
    services.emit({ type: "tool.failed", ok: false, reason: failure.reason, ...told(failure.message) });
    return { message: answer(call, failure.message, true), stop: failure.stop };
  }
}

/** A call that is not even begun, because the turn has ended. */
export function skipToolCall(services: Services, call: ToolCall, why: string): ToolMessage {
  const { id: callId, name, input } = call;
  services.emit({ type: "tool.requested", callId, name, input });
  const content = `Not run: ${why}.`;
  services.emit({
    type: "tool.failed",
    callId,
    name,
    ok: false,
    reason: "aborted",
    preview: content,
    content,
    durationMs: 0,
  });
  return answer(call, content, true);
}

async function perform(services: Services, call: ToolCall, signal: AbortSignal): Promise<ToolResult> {
  const tool = visibleTool(services, call.name);
  const context = contextOf(services, call, signal);
  const input = await gated(services, tool, call, signal);
  const plan = await tool.plan(input.value, context);
  await consented(services, tool, call, input.value, plan, input.warnings, signal);
  services.emit({
    type: "tool.started",
    callId: call.id,
    name: tool.name,
    input: input.value,
    title: plan.title,
    ...(tool.metadata.sideEffect === "process" ? { sandbox: services.sandbox.adapter ?? "none" } : {}),
    ...(plan.changes === undefined ? {} : { changes: plan.changes }),
  });
  const result =
    // A sub-agent runs dry itself.
    context.dryRun && tool.metadata.sideEffect !== "none" && plan.invocation === undefined
      ? dryRun(plan)
      : await executed(services, tool, call, input.value, plan, context);
  return afterwards(services, tool, call, result, signal);
}

function visibleTool({ tools, agent }: Services, name: string): ToolDefinition {
  const tool = tools.find((one) => one.name === name);
  if (tool !== undefined) return tool;
  const names = tools.map((one) => one.name).join(", ") || "none";
  throw new CallFailed("unknown_tool", `The agent ${agent.name} has no tool "${name}". Its tools: ${names}.`);
}

/** The checked input, after what PreToolUse hooks made of it. */
async function gated(
  services: Services,
  tool: ToolDefinition,
  call: ToolCall,
  signal: AbortSignal,
): Promise<{ value: unknown; warnings: string[] }> {
  const value = checked(tool, call.input);
  const outcome = await services.hooks.dispatch(
    hookInput(services, "PreToolUse", { callId: call.id, toolName: tool.name, toolInput: value }),
    signal,
  );
  if (outcome.blocked) throw new CallFailed("blocked", `Blocked: ${outcome.reason ?? "a hook said so"}`);
  if (outcome.patch === undefined) return { value, warnings: outcome.warnings };
  return { value: checked(tool, outcome.patch, " after a hook changed it"), warnings: outcome.warnings };
}

function checked(tool: ToolDefinition, input: unknown, where = ""): unknown {
  if (typeof input === "string") {
    throw new CallFailed("invalid_input", `The input of ${tool.name} is no JSON object${where}: send one.`);
  }
  const verdict = tool.check(input);
  if (verdict.ok) return verdict.value;
  throw new CallFailed("invalid_input", `Invalid input for ${tool.name}${where}: ${verdict.message}`);
}

async function consented(
  services: Services,
  tool: ToolDefinition,
  call: ToolCall,
  input: unknown,
  plan: ToolPlan,
  warnings: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { agent } = services;
  const { invocation } = plan;
  const verdict = await permitted(
    services,
    {
      tool: tool.name,
      input,
      plan,
      agent: invocation === undefined ? agent : asCaller(agent, invocation.decision),
      callId: call.id,
      agentPath: services.invocation.agentPath,
      sandbox: services.sandbox.adapter ?? "none",
      ...(warnings.length === 0 ? {} : { reason: warnings.join("; ") }),
      ...(tool.metadata.defaultDecision === undefined ? {} : { toolDefault: tool.metadata.defaultDecision }),
    },
    invocation === undefined
      ? { targetType: "tool", targetName: tool.name }
      : { targetType: "agent", targetName: invocation.agent.name },
    signal,
  );
  if (verdict.allowed) return;
  if (signal.aborted) throw new CallFailed("aborted", "Not run: the turn was aborted.");
  throw new CallFailed("denied", denial(verdict), verdict.stop === true);
}

/** What the sub-agent says of being started is its default here; a caller that denies by default still does. */
function asCaller(agent: AgentDefinition, decision: Decision): AgentDefinition {
  return agent.defaultDecision === "deny" ? agent : { ...agent, defaultDecision: decision };
}

async function executed(
  services: Services,
  tool: ToolDefinition,
  call: ToolCall,
  input: unknown,
  plan: ToolPlan,
  context: ToolContext,
): Promise<ToolResult> {
  try {
    return await tool.execute(input, plan, context);
  } catch (error) {
    if (!context.signal.aborted) await toolError(services, tool, call, messageOf(error), context.signal);
    throw error;
  }
}

async function afterwards(
  services: Services,
  tool: ToolDefinition,
  call: ToolCall,
  result: ToolResult,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (!result.ok) {
    if (signal.aborted) return result;
    await toolError(services, tool, call, result.content, signal);
    return result;
  }
  // Aborted, hooks that would look at it hold it back: what they could not see is not kept.
  const outcome = await services.hooks.dispatch(
    hookInput(services, "PostToolUse", {
      callId: call.id,
      toolName: tool.name,
      toolResult: { ok: result.ok, content: result.content },
    }),
    signal,
  );
  return { ...result, content: contentAfter(result.content, outcome) };
}

async function toolError(
  services: Services,
  tool: ToolDefinition,
  call: ToolCall,
  content: string,
  signal: AbortSignal,
): Promise<void> {
  const toolResult = { ok: false, content };
  const input = { callId: call.id, toolName: tool.name, toolResult };
  await services.hooks.dispatch(hookInput(services, "ToolError", input), signal);
}

/** The tool has run: a hook cannot undo that, but it can keep its output from the model. */
function contentAfter(content: string, outcome: HookOutcome): string {
  if (outcome.blocked)
    return `The tool ran, but a hook holds its output back: ${outcome.reason ?? "no reason given"}`;
  const patch = outcome.patch as { content?: unknown } | undefined;
  return typeof patch?.content === "string" ? patch.content : content;
}

function dryRun(plan: ToolPlan): ToolResult {
  return { ok: true, content: `Dry run: "${plan.title}" was not carried out.`, metadata: { dryRun: true } };
}

function contextOf(services: Services, call: ToolCall, signal: AbortSignal): ToolContext {
  const { sessionId, workspace, sandbox, env, dryRun: isDry, agent, question, delegator } = services;
  return {
    sessionId,
    callId: call.id,
    agent: agent.name,
    workspace,
    sandbox,
    env,
    signal,
    mayRead: (path) =>
      services.gate.mayRead({ tool: call.name, agent, ownFiles: services.subAgent?.ownFiles }, path),
    dryRun: isDry,
    progress: (text) => services.emit({ type: "tool.output", callId: call.id, text }),
    keepOutput: (output) => services.keepOutput(call.id, output),
    ...(question === undefined ? {} : { question: (asked) => question(asked, signal) }),
    // No other tool starts agents: it would not be asked about.
    ...(delegator === undefined || call.name !== DELEGATE_TOOL ? {} : { delegator }),
  };
}

function toFailure(error: unknown, signal: AbortSignal): CallFailed {
  if (error instanceof CallFailed) return error;
  if (signal.aborted) return new CallFailed("aborted", "Not finished: the turn was aborted.");
  return new CallFailed(
    "failed",
    error instanceof ToolError ? error.message : `It failed: ${messageOf(error)}`,
  );
}

function answer(call: ToolCall, content: string, isError: boolean): ToolMessage {
  return {
    role: "tool",
    toolCallId: call.id,
    name: call.name,
    content,
    ...(isError ? { isError } : {}),
  };
}

function previewOf(content: string): string {
  return content.length <= PREVIEW_CHARACTERS ? content : `${content.slice(0, PREVIEW_CHARACTERS)}…`;
}
