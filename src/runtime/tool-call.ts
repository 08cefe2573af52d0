// Runs one tool call: input check, hooks, permission, execution. Every failure becomes a result for the model, never an
// exception.

import { toMessage } from "../base/coded-error.ts";
import { defined } from "../base/values.ts";
import type { AgentDefinition } from "./agents/types.ts";
import { DELEGATE_TOOL } from "./delegation/types.ts";
import type { ToolFailure } from "./events.ts";
import type { HookOutcome } from "./hooks/types.ts";
import type { ToolCall, ToolMessage } from "./messages.ts";
import type { Decision } from "./permissions/types.ts";
import { explainDenial, obtainPermission } from "./permitted.ts";
import type { TokenUsage } from "./providers/types.ts";
import { buildHookInput, type Services } from "./services.ts";
import { toPreview } from "./tools/output.ts";
import {
  type ToolContext,
  type ToolDefinition,
  ToolError,
  type ToolPlan,
  type ToolResult,
} from "./tools/types.ts";

export interface CallOutcome {
  message: ToolMessage;
  /** The user stopped the turn. */
  stop: boolean;
  /** Usage of a sub-agent. */
  usage?: TokenUsage;
}

/** Ends the call early. */
export class CallFailed extends Error {
  readonly reason: ToolFailure;
  readonly stop: boolean;

  constructor(reason: ToolFailure, message: string, stop = false) {
    super(message);
    this.reason = reason;
    this.stop = stop;
  }
}

/** Runs the checks of one call: hooks, plan, permission. */
export type Admit = <T>(check: () => Promise<T>) => Promise<T>;

/** `admit`: calls that run at the same time are checked one after the other. */
export async function runToolCall(
  services: Services,
  call: ToolCall,
  signal: AbortSignal,
  admit: Admit = (check) => check(),
): Promise<CallOutcome> {
  const startedMs = Date.now();
  services.emit({ type: "tool.requested", callId: call.id, name: call.name, input: call.input });
  const toEventFields = (content: string) => ({
    callId: call.id,
    name: call.name,
    preview: toPreview(content),
    content,
    durationMs: Date.now() - startedMs,
  });
  try {
    const result = await perform(services, call, signal, admit);
    const metadata = defined({ metadata: result.metadata });
    if (result.ok)
      services.emit({ type: "tool.completed", ok: true, ...toEventFields(result.content), ...metadata });
    else {
      const reason = signal.aborted ? "aborted" : "failed";
      services.emit({
        type: "tool.failed",
        ok: false,
        reason,
        ...toEventFields(result.content),
        ...metadata,
      });
    }
    return {
      message: toToolMessage(call, result.content, !result.ok),
      stop: result.stop === true,
      ...defined({ usage: result.usage }),
    };
  } catch (error) {
    const failure = toFailure(error, signal);
    services.emit({
      type: "tool.failed",
      ok: false,
      reason: failure.reason,
      ...toEventFields(failure.message),
    });
    return { message: toToolMessage(call, failure.message, true), stop: failure.stop };
  }
}

/** Answers a call that was not started because the turn has ended. */
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
  return toToolMessage(call, content, true);
}

async function perform(
  services: Services,
  call: ToolCall,
  signal: AbortSignal,
  admit: Admit,
): Promise<ToolResult> {
  const tool = findVisibleTool(services, call.name);
  const context = createContext(services, call, signal);
  const { input, plan } = await admit(async () => {
    const checked = await runPreHooks(services, tool, call, signal);
    const planned = await tool.plan(checked.value, context);
    await requirePermission(services, tool, call, checked.value, planned, checked.warnings, signal);
    return { input: checked.value, plan: planned };
  });
  services.emit({
    type: "tool.started",
    callId: call.id,
    name: tool.name,
    input,
    title: plan.title,
    ...(tool.metadata.sideEffect === "process" ? { sandbox: services.sandbox.adapter ?? "none" } : {}),
    ...defined({ changes: plan.changes }),
  });
  const result =
    // A sub-agent does its own dry run.
    context.dryRun && tool.metadata.sideEffect !== "none" && plan.invocation === undefined
      ? toDryRunResult(plan)
      : await runTool(services, tool, call, input, plan, context);
  return runPostHooks(services, tool, call, result, signal);
}

function findVisibleTool({ tools, agent }: Services, name: string): ToolDefinition {
  const tool = tools.find((one) => one.name === name);
  if (tool !== undefined) return tool;
  const names = tools.map((one) => one.name).join(", ") || "none";
  throw new CallFailed("unknown_tool", `The agent ${agent.name} has no tool "${name}". Its tools: ${names}.`);
}

/** Returns the checked input, as PreToolUse hooks changed it. */
async function runPreHooks(
  services: Services,
  tool: ToolDefinition,
  call: ToolCall,
  signal: AbortSignal,
): Promise<{ value: unknown; warnings: string[] }> {
  const value = checkInput(tool, call.input);
  const outcome = await services.hooks.dispatch(
    buildHookInput(services, "PreToolUse", { callId: call.id, toolName: tool.name, toolInput: value }),
    signal,
  );
  if (outcome.blocked) throw new CallFailed("blocked", `Blocked: ${outcome.reason ?? "a hook refused it"}`);
  if (outcome.patch === undefined) return { value, warnings: outcome.warnings };
  return { value: checkInput(tool, outcome.patch, " after a hook changed it"), warnings: outcome.warnings };
}

function checkInput(tool: ToolDefinition, input: unknown, where = ""): unknown {
  if (typeof input === "string") {
    throw new CallFailed(
      "invalid_input",
      `The input of ${tool.name} is not a JSON object${where}: send one.`,
    );
  }
  const verdict = tool.check(input);
  if (verdict.ok) return verdict.value;
  throw new CallFailed("invalid_input", `Invalid input for ${tool.name}${where}: ${verdict.message}`);
}

async function requirePermission(
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
  const verdict = await obtainPermission(
    services,
    {
      tool: tool.name,
      input,
      plan,
      agent: invocation === undefined ? agent : applyInvocationDefault(agent, invocation.decision),
      callId: call.id,
      agentPath: services.invocation.agentPath,
      sandbox: services.sandbox.adapter ?? "none",
      ...(warnings.length === 0 ? {} : { reason: warnings.join("; ") }),
      ...defined({ toolDefault: tool.metadata.defaultDecision }),
    },
    invocation === undefined
      ? { targetType: "tool", targetName: tool.name }
      : { targetType: "agent", targetName: invocation.agent.name },
    signal,
  );
  if (verdict.allowed) return;
  if (signal.aborted) throw new CallFailed("aborted", "Not run: the turn was aborted.");
  throw new CallFailed("denied", explainDenial(verdict), verdict.stop === true);
}

/** The sub-agent's `invocationDecision` is the default here; a caller that denies by default still denies. */
function applyInvocationDefault(agent: AgentDefinition, decision: Decision): AgentDefinition {
  return agent.defaultDecision === "deny" ? agent : { ...agent, defaultDecision: decision };
}

async function runTool(
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
    if (!context.signal.aborted) await runErrorHooks(services, tool, call, toMessage(error), context.signal);
    throw error;
  }
}

async function runPostHooks(
  services: Services,
  tool: ToolDefinition,
  call: ToolCall,
  result: ToolResult,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (!result.ok) {
    if (signal.aborted) return result;
    await runErrorHooks(services, tool, call, result.content, signal);
    return result;
  }
  // After an abort, a hook that cannot check the output withholds it.
  const outcome = await services.hooks.dispatch(
    buildHookInput(services, "PostToolUse", {
      callId: call.id,
      toolName: tool.name,
      toolResult: { ok: result.ok, content: result.content },
    }),
    signal,
  );
  return { ...result, content: applyHookOutcome(result.content, outcome) };
}

async function runErrorHooks(
  services: Services,
  tool: ToolDefinition,
  call: ToolCall,
  content: string,
  signal: AbortSignal,
): Promise<void> {
  const toolResult = { ok: false, content };
  const input = { callId: call.id, toolName: tool.name, toolResult };
  await services.hooks.dispatch(buildHookInput(services, "ToolError", input), signal);
}

/** The tool has already run; a hook can only withhold its output from the model. */
function applyHookOutcome(content: string, outcome: HookOutcome): string {
  if (outcome.blocked)
    return `The tool ran, but a hook withheld its output: ${outcome.reason ?? "no reason given"}`;
  const patch = outcome.patch as { content?: unknown } | undefined;
  return typeof patch?.content === "string" ? patch.content : content;
}

function toDryRunResult(plan: ToolPlan): ToolResult {
  return { ok: true, content: `Dry run: "${plan.title}" was not executed.`, metadata: { dryRun: true } };
}

function createContext(services: Services, call: ToolCall, signal: AbortSignal): ToolContext {
  const { sessionId, workspace, sandbox, env, dryRun: isDry, agent, question, delegator, jobs } = services;
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
    showPlan: (steps) => services.emit({ type: "plan.updated", steps }),
    keepOutput: (output) => services.keepOutput(call.id, output),
    ...(question === undefined ? {} : { question: (asked) => question(asked, signal) }),
    ...defined({ jobs }),
    // No other tool may start agents: that would bypass the permission check.
    ...(delegator === undefined || call.name !== DELEGATE_TOOL ? {} : { delegator }),
  };
}

function toFailure(error: unknown, signal: AbortSignal): CallFailed {
  if (error instanceof CallFailed) return error;
  if (signal.aborted) return new CallFailed("aborted", "Not finished: the turn was aborted.");
  return new CallFailed("failed", error instanceof ToolError ? error.message : `Failed: ${toMessage(error)}`);
}

function toToolMessage(call: ToolCall, content: string, isError: boolean): ToolMessage {
  return {
    role: "tool",
    toolCallId: call.id,
    name: call.name,
    content,
    ...(isError ? { isError } : {}),
  };
}
