// Runs one user message to its answer: asks the model, runs its tool calls, asks again. Never rejects because of a
// provider, tool, hook or user; each failure is an outcome.
import { defined } from "../base/values.ts";
import { formatReports } from "./jobs/jobs.ts";
import {
  endAborted,
  endBlocked,
  explainTurnLimit,
  guardAnswer,
  refuseToStop,
  submitMessage,
  takeSteers,
} from "./message-hooks.ts";
import type { ToolCall, ToolMessage, UserMessage } from "./messages.ts";
import { askModel, type ModelMemory } from "./model-request.ts";
import type { ChatResponse, TokenUsage } from "./providers/types.ts";
import { buildHookInput, type NativeServices } from "./services.ts";
import type { TurnReport } from "./session-types.ts";
import { groupCalls, runGroup } from "./tool-group.ts";
import { type End, reportEnd, toBugEnd } from "./turn-end.ts";
import { addUsage, createUsage } from "./usage.ts";

interface Turn {
  services: NativeServices;
  signal: AbortSignal;
  memory: ModelMemory;
  usage: TokenUsage;
  /** Model requests so far. */
  requests: number;
  text: string;
}

export async function runTurn(
  services: NativeServices,
  message: UserMessage,
  memory: ModelMemory,
  signal: AbortSignal,
): Promise<TurnReport> {
  const turn: Turn = { services, signal, memory, usage: createUsage(), requests: 0, text: "" };
  const end = await loopUntilEnd(turn, message).catch(toBugEnd);
  const { usage, requests: turns, text } = turn;
  return reportEnd(services, end, { text, turns, usage });
}

async function loopUntilEnd(turn: Turn, message: UserMessage): Promise<End> {
  const { services, signal } = turn;
  const refused = await submitMessage(services, message, signal);
  if (refused !== undefined) return refused;
  while (turn.requests < services.limits.maxTurns) {
    if (signal.aborted) return endAborted();
    const end = await requestAndRun(turn);
    if (end !== undefined) return end;
  }
  return { outcome: "max_turns", message: explainTurnLimit(services) };
}

/** One model request and its tool calls. Undefined: ask again. */
async function requestAndRun(turn: Turn): Promise<End | undefined> {
  const { services, signal, memory } = turn;
  await takeSteers(services, signal);
  const before = await services.hooks.dispatch(buildHookInput(services, "BeforeModelRequest"), signal);
  if (signal.aborted) return endAborted();
  if (before.blocked) return endBlocked(before.reason);
  turn.requests += 1;
  const response = await askModel(services, turn.requests, memory, signal);
  if (memory.foldUsage !== undefined) addUsage(turn.usage, memory.foldUsage);
  delete memory.foldUsage;
  countUsage(turn, response);
  const { calls, end } = await acceptAnswer(turn, response);
  // Before checking `end`: every call in the history needs a result, even if the turn was aborted meanwhile.
  if (calls.length > 0) return runCalls(turn, calls);
  return end ?? finishUnlessRefused(turn);
}

/** Adds the model's answer to the history, as the hooks leave it. */
async function acceptAnswer(turn: Turn, response: ChatResponse): Promise<{ calls: ToolCall[]; end?: End }> {
  const { services, signal } = turn;
  const { history, emit } = services;
  // A partial answer runs no tools: their input may be incomplete.
  const isWhole =
    response.stopReason !== "error" && response.stopReason !== "content_filter" && !signal.aborted;
  const named = history.makeCallIdsUnique(response.message);
  const said = await guardAnswer(services, named.content ?? "", signal);
  const toolCalls = isWhole && !said.blocked ? (named.toolCalls ?? []) : [];
  if (said.text !== "" || toolCalls.length > 0) {
    history.push({ role: "assistant", content: said.text, ...(toolCalls.length === 0 ? {} : { toolCalls }) });
  }
  if (said.text !== "") {
    turn.text = said.text;
    emit({ type: "model.text", text: said.text, final: toolCalls.length === 0 });
  }
  const end = said.blocked ? endBlocked(said.reason) : toEnd(turn, response);
  return { calls: toolCalls, ...defined({ end }) };
}

function toEnd({ services, signal }: Turn, response: ChatResponse): End | undefined {
  const { stopReason, error } = response;
  if (signal.aborted) return endAborted();
  if (stopReason === "content_filter") {
    const message = error?.message ?? "the provider's safety filter stopped the answer";
    services.emit({ type: "model.content_filter", message });
    return { outcome: "content_filter", message };
  }
  if (stopReason === "error") {
    const failure = error ?? { kind: "protocol" as const, message: "the provider returned no usable answer" };
    services.emit({ type: "model.failed", failure });
    return { outcome: "failed", message: failure.message, failure };
  }
  if (stopReason === "max_tokens") {
    return { outcome: "max_tokens", message: "the answer was cut off at the provider's output token limit" };
  }
  return undefined;
}

/** The model is done; a Stop hook may ask it to continue. */
async function finishUnlessRefused({ services, signal, text }: Turn): Promise<End | undefined> {
  const more = await refuseToStop(services, text, signal);
  if (more === undefined) return { outcome: "completed" };
  services.history.push({ role: "user", content: more });
  return undefined;
}

async function runCalls(turn: Turn, calls: readonly ToolCall[]): Promise<End | undefined> {
  const { services, signal } = turn;
  let isStopped = false;
  for (const group of groupCalls(services, calls)) {
    const outcomes = await runGroup(services, group, { signal, isStopped });
    for (const [index, { message, usage, stop }] of outcomes.entries()) {
      services.history.push(index === outcomes.length - 1 ? addJobReports(services, message) : message);
      // The sub-agent already emitted its usage events; only add to the total.
      if (usage !== undefined) addUsage(turn.usage, usage);
      isStopped ||= stop;
    }
  }
  if (signal.aborted) return endAborted();
  return isStopped
    ? { outcome: "denied", message: "the user denied a tool call and stopped the turn" }
    : undefined;
}

/** The model reads of a job that has ended with the next result. */
function addJobReports({ jobs }: NativeServices, message: ToolMessage): ToolMessage {
  const reports = formatReports(jobs?.takeReports() ?? []);
  return reports === "" ? message : { ...message, content: `${message.content}\n\n${reports}` };
}

function countUsage({ services, usage }: Turn, { usage: more, model: name }: ChatResponse): void {
  if (more === undefined) return;
  services.emit({ type: "model.usage", ...more, ...defined({ model: name }) });
  addUsage(usage, more);
}
