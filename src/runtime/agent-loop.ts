// One user message until its answer: ask the model, run what it calls, ask again. It never rejects for what a provider,
// a tool, a hook or a person does; each of them has an outcome.
import { aborted, blocked, guardAnswer, outOfTurns, refuseToStop, submitMessage } from "./message-hooks.ts";
import type { ToolCall, UserMessage } from "./messages.ts";
import { askModel, type ModelMemory } from "./model-request.ts";
import type { ChatResponse, TokenUsage } from "./providers/types.ts";
import { hookInput, type NativeServices } from "./services.ts";
import type { TurnReport } from "./session-types.ts";
import { runToolCall, skipToolCall } from "./tool-call.ts";
import { bugEnd, type End, reportEnd } from "./turn-end.ts";
import { addUsage, noUsage } from "./usage.ts";

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
  const turn: Turn = { services, signal, memory, usage: noUsage(), requests: 0, text: "" };
  const end = await conclude(turn, message).catch(bugEnd);
  const { usage, requests: turns, text } = turn;
  return reportEnd(services, end, { text, turns, usage });
}

async function conclude(turn: Turn, message: UserMessage): Promise<End> {
  const { services, signal } = turn;
  const refused = await submitMessage(services, message, signal);
  if (refused !== undefined) return refused;
  while (turn.requests < services.limits.maxTurns) {
    if (signal.aborted) return aborted();
    const end = await model(turn);
    if (end !== undefined) return end;
  }
  return { outcome: "max_turns", message: outOfTurns(services) };
}

/** One request and the calls that come of it. Undefined: ask again. */
async function model(turn: Turn): Promise<End | undefined> {
  const { services, signal, memory } = turn;
  const before = await services.hooks.dispatch(hookInput(services, "BeforeModelRequest"), signal);
  if (signal.aborted) return aborted();
  if (before.blocked) return blocked(before.reason);
  turn.requests += 1;
  const response = await askModel(services, turn.requests, memory, signal);
  count(turn, response);
  const { calls, end } = await take(turn, response);
  // First: calls that are in the history get an answer, also when the turn was aborted meanwhile.
  if (calls.length > 0) return runCalls(turn, calls);
  return end ?? stop(turn);
}

/** What the model said joins the history, as the hooks leave it. */
async function take(turn: Turn, response: ChatResponse): Promise<{ calls: ToolCall[]; end?: End }> {
  const { services, signal } = turn;
  const { history, emit } = services;
  // Half an answer calls no tools: what they would have been told is not known.
  const isWhole =
    response.stopReason !== "error" && response.stopReason !== "content_filter" && !signal.aborted;
  const named = history.named(response.message);
  const said = await guardAnswer(services, named.content ?? "", signal);
  const toolCalls = isWhole && !said.blocked ? (named.toolCalls ?? []) : [];
  if (said.text !== "" || toolCalls.length > 0) {
    history.push({ role: "assistant", content: said.text, ...(toolCalls.length === 0 ? {} : { toolCalls }) });
  }
  if (said.text !== "") {
    turn.text = said.text;
    emit({ type: "model.text", text: said.text, final: toolCalls.length === 0 });
  }
  const end = said.blocked ? blocked(said.reason) : endOf(turn, response);
  return { calls: toolCalls, ...(end === undefined ? {} : { end }) };
}

function endOf({ services, signal }: Turn, response: ChatResponse): End | undefined {
  const { stopReason, error } = response;
  if (signal.aborted) return aborted();
  if (stopReason === "content_filter") {
    const message = error?.message ?? "the provider's safety filter stopped the answer";
    services.emit({ type: "model.content_filter", message });
    return { outcome: "content_filter", message };
  }
  if (stopReason === "error") {
    const failure = error ?? { kind: "protocol" as const, message: "the provider answered nothing usable" };
    services.emit({ type: "model.failed", failure });
    return { outcome: "failed", message: failure.message, failure };
  }
  if (stopReason === "max_tokens") {
    return { outcome: "max_tokens", message: "the answer was cut at the provider's limit of output tokens" };
  }
  return undefined;
}

/** The model is done; a Stop hook may want more of it. */
async function stop({ services, signal, text }: Turn): Promise<End | undefined> {
  const more = await refuseToStop(services, text, signal);
  if (more === undefined) return { outcome: "completed" };
  services.history.push({ role: "user", content: more });
  return undefined;
}

async function runCalls(turn: Turn, calls: readonly ToolCall[]): Promise<End | undefined> {
  const { services, signal } = turn;
  let isStopped = false;
  for (const call of calls) {
    if (signal.aborted || isStopped) {
      const why = isStopped ? "the user stopped the turn" : "the turn was aborted";
      services.history.push(skipToolCall(services, call, why));
      continue;
    }
    const outcome = await runToolCall(services, call, signal);
    services.history.push(outcome.message);
    // What a sub-agent spent was told as it was spent.
    if (outcome.usage !== undefined) addUsage(turn.usage, outcome.usage);
    isStopped = outcome.stop;
  }
  if (signal.aborted) return aborted();
  return isStopped
    ? { outcome: "denied", message: "the user denied a tool call and stopped the turn" }
    : undefined;
}

function count({ services, usage }: Turn, { usage: more, model: name }: ChatResponse): void {
  if (more === undefined) return;
  services.emit({ type: "model.usage", ...more, ...(name === undefined ? {} : { model: name }) });
  addUsage(usage, more);
}
