// Builds a response from a model's output, and guarantees that `stopReason` is "tool_use" exactly when there are calls:
// failed and filtered answers have none.

import { makeId } from "../../base/id.ts";
import { findFault } from "../../base/json.ts";
import { defined } from "../../base/values.ts";
import type { Message, ToolCall } from "../messages.ts";
import type { ChatResponse, ProviderFailure, StopReason, TokenUsage } from "./types.ts";

export interface OutputCall {
  id?: string | undefined;
  name: string;
  /** JSON text, or an object. */
  input: unknown;
}

export interface ModelOutput {
  text: string;
  calls: readonly OutputCall[];
  /** "tool_use" and "end_turn" are corrected to match the calls. */
  stopReason: StopReason;
  failure?: ProviderFailure | undefined;
  usage?: TokenUsage | undefined;
  model?: string | undefined;
  raw: unknown;
}

/** `usedIds`: ids of earlier calls; new ones are added. */
export function toResponse(said: ModelOutput, usedIds = new Set<string>()): ChatResponse {
  const isOver = said.stopReason === "error" || said.stopReason === "content_filter";
  const toolCalls = isOver ? [] : toToolCalls(said.calls, said.stopReason === "max_tokens", usedIds);
  const content = said.text === "" ? null : said.text;
  return {
    message: { role: "assistant", content, ...(toolCalls.length === 0 ? {} : { toolCalls }) },
    toolCalls,
    stopReason:
      toolCalls.length > 0 ? "tool_use" : said.stopReason === "tool_use" ? "end_turn" : said.stopReason,
    ...defined({ usage: said.usage, model: said.model }),
    ...(isOver && said.failure !== undefined ? { error: said.failure } : {}),
    raw: said.raw,
  };
}

/** Ids that every API accepts; 40 characters is OpenAI's limit. */
const SAFE_ID = /^[A-Za-z0-9_-]{1,40}$/;

/** A call cut off by the token limit is kept as invalid JSON: the model gets an error and can try again. */
function toToolCalls(calls: readonly OutputCall[], isCut: boolean, usedIds: Set<string>): ToolCall[] {
  return calls.map((call) => {
    const wanted = (call.id ?? "").replaceAll(/[^A-Za-z0-9_-]/g, "_");
    const isFree = SAFE_ID.test(wanted) && !usedIds.has(wanted);
    const id = isFree ? wanted : makeId("call");
    usedIds.add(id);
    return { id, name: call.name, input: parseInput(call.input, isCut) };
  });
}

/** The raw string if it is not JSON, or is JSON that `findFault` rejects. */
function parseInput(input: unknown, isCut: boolean): unknown {
  if (typeof input !== "string") return input ?? {};
  if (input.trim() === "") return isCut ? input : {};
  try {
    const value: unknown = JSON.parse(input);
    return findFault(value) === undefined ? (value ?? {}) : input;
  } catch {
    return input; // The agent loop reports it to the model.
  }
}

/**
 * Marks the ids of a history as used. Some providers restart their ids in each answer, but data kept by call id
 * (echo-memory.ts) needs ids that are unique in a conversation.
 */
export function reserveIds(messages: readonly Message[], usedIds: Set<string>): void {
  for (const message of messages) {
    if (message.role === "assistant") for (const { id } of message.toolCalls ?? []) usedIds.add(id);
  }
}

/** Makes the name of an earlier call acceptable to APIs, which reject a whole request over an invented name. */
export function nameToIdentifier(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

/** Makes the input of an earlier call an object, as APIs require. */
export function inputToObject(input: unknown): Record<string, unknown> {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return { ...input };
  return { unparsed_arguments: input };
}
