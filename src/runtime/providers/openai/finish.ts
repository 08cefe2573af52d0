// Why an OpenAI-compatible model stopped: the vendors' words, and what they amount to.
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { StopReason } from "../types.ts";

export interface Finish {
  stopReason: StopReason;
  /** In the vendor's words. */
  said: string;
}

const REASONS: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ["tool_calls", "tool_use"],
  ["function_call", "tool_use"],
  ["length", "max_tokens"],
  ["max_tokens", "max_tokens"],
  ["model_length", "max_tokens"],
  ["content_filter", "content_filter"],
  ["content_filtered", "content_filter"],
  ["safety", "content_filter"],
  ["recitation", "content_filter"],
  ["blocklist", "content_filter"],
  ["prohibited_content", "content_filter"],
  ["spii", "content_filter"],
  ["image_safety", "content_filter"],
  ["refusal", "content_filter"],
  ["error", "error"],
  ["abort", "error"],
  ["cancelled", "error"],
  ["insufficient_system_resource", "error"],
  ["malformed_function_call", "error"],
]);

/** Every other word is an ordinary end. */
export function readFinish(choice: JsonObject): Finish | undefined {
  const said = choice["finish_reason"];
  if (typeof said !== "string" || said === "") return undefined;
  // Gemini adds to the word: "content_filter: SAFETY".
  const word = said.toLowerCase().split(/[:\s]/)[0] ?? "";
  const stopReason = REASONS.get(word) ?? "end_turn";
  if (stopReason !== "content_filter") return { stopReason, said };
  const categories = isObject(choice["content_filter_results"]) ? choice["content_filter_results"] : {};
  const filtered = Object.entries(categories).flatMap(([name, entry]) =>
    isObject(entry) && entry["filtered"] === true ? [name] : [],
  );
  return { stopReason, said: [said, ...filtered].join(", ") };
}

/** Gemini tells of a blocked prompt beside the choices, of which there are none then. */
export function blockedPrompt(chunk: JsonObject): string | undefined {
  const feedback = chunk["prompt_feedback"] ?? chunk["promptFeedback"];
  if (!isObject(feedback)) return undefined;
  const reason = feedback["block_reason"] ?? feedback["blockReason"];
  return typeof reason === "string" && reason !== "" ? `the prompt was blocked: ${reason}` : undefined;
}
