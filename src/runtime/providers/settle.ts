// Makes the response out of what a model said, however it was said. Here the rule holds that it stops for tools exactly
// when there are calls: who filtered or failed has none, and who called one has stopped for it.
import { randomUUID } from "node:crypto";
import { findFault } from "../../base/json.ts";
import type { Message, ToolCall } from "../messages.ts";
import type { ChatResponse, ProviderFailure, StopReason, TokenUsage } from "./types.ts";

export interface SaidCall {
  id?: string | undefined;
  name: string;
  /** JSON as the model wrote it, or already an object. */
  input: unknown;
}

export interface Said {
  text: string;
  calls: readonly SaidCall[];
  /** What the vendor's reason amounts to; "tool_use" and "end_turn" follow from the calls. */
  stopReason: StopReason;
  failure?: ProviderFailure | undefined;
  usage?: TokenUsage | undefined;
  model?: string | undefined;
  raw: unknown;
}

/** `taken`: ids of earlier calls. It gets the new ones as well. */
export function settle(said: Said, taken = new Set<string>()): ChatResponse {
  const isOver = said.stopReason === "error" || said.stopReason === "content_filter";
  const toolCalls = isOver ? [] : toToolCalls(said.calls, said.stopReason === "max_tokens", taken);
  const content = said.text === "" ? null : said.text;
  return {
    message: { role: "assistant", content, ...(toolCalls.length === 0 ? {} : { toolCalls }) },
    toolCalls,
    stopReason:
      toolCalls.length > 0 ? "tool_use" : said.stopReason === "tool_use" ? "end_turn" : said.stopReason,
    ...(said.usage === undefined ? {} : { usage: said.usage }),
    ...(said.model === undefined ? {} : { model: said.model }),
    ...(isOver && said.failure !== undefined ? { error: said.failure } : {}),
    raw: said.raw,
  };
}

/** Of the letters that every API takes back, and not longer than OpenAI allows. */
const SAFE_ID = /^[A-Za-z0-9_-]{1,40}$/;

/** A call that was cut off by the token limit stays, as text that is no JSON: the model is told, and can try again. */
function toToolCalls(calls: readonly SaidCall[], isCut: boolean, taken: Set<string>): ToolCall[] {
  return calls.map((call) => {
    const wanted = (call.id ?? "").replaceAll(/[^A-Za-z0-9_-]/g, "_");
    const isFree = SAFE_ID.test(wanted) && !taken.has(wanted);
    const id = isFree ? wanted : `call_${randomUUID().replaceAll("-", "")}`;
    taken.add(id);
    return { id, name: call.name, input: parseInput(call.input, isCut) };
  });
}

/** The raw string where it is no JSON, or one that would bite later (json.ts). */
function parseInput(input: unknown, isCut: boolean): unknown {
  if (typeof input !== "string") return input ?? {};
  if (input.trim() === "") return isCut ? input : {};
  try {
    const value: unknown = JSON.parse(input);
    return findFault(value) === undefined ? (value ?? {}) : input;
  } catch {
    return input; // The loop says so to the model.
  }
}

/**
 * Some providers count their calls anew in each answer. What is kept by the id of a call (echo-memory.ts) would be given
 * back with another one, so an id is given once in a conversation.
 */
export function takeIds(messages: readonly Message[], taken: Set<string>): void {
  for (const message of messages) {
    if (message.role === "assistant") for (const { id } of message.toolCalls ?? []) taken.add(id);
  }
}

/** The name of an earlier call as APIs take it back: what a model made up would be refused with all that follows. */
export function nameToIdentifier(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

/** The input of an earlier call as APIs take it back: they want an object, also where the model wrote none. */
export function inputToObject(input: unknown): Record<string, unknown> {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return { ...input };
  return { unparsed_arguments: input };
}
