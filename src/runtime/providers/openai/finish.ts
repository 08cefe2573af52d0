// Maps vendors' finish reasons to stop reasons.
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { StopReason } from "../types.ts";

export interface Finish {
  stopReason: StopReason;
  /** Including filtered categories. */
  vendorReason: string;
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

/** Unknown reasons count as a normal end. */
export function readFinish(choice: JsonObject): Finish | undefined {
  const vendorReason = choice["finish_reason"];
  if (typeof vendorReason !== "string" || vendorReason === "") return undefined;
  // Gemini adds a detail: "content_filter: SAFETY".
  const word = vendorReason.toLowerCase().split(/[:\s]/)[0] ?? "";
  const stopReason = REASONS.get(word) ?? "end_turn";
  if (stopReason !== "content_filter") return { stopReason, vendorReason: vendorReason };
  const categories = isObject(choice["content_filter_results"]) ? choice["content_filter_results"] : {};
  const filtered = Object.entries(categories).flatMap(([name, entry]) =>
    isObject(entry) && entry["filtered"] === true ? [name] : [],
  );
  return { stopReason, vendorReason: [vendorReason, ...filtered].join(", ") };
}

/** Gemini reports a blocked prompt outside the choices, which are empty then. */
export function findBlockedPrompt(chunk: JsonObject): string | undefined {
  const feedback = chunk["prompt_feedback"] ?? chunk["promptFeedback"];
  if (!isObject(feedback)) return undefined;
  const reason = feedback["block_reason"] ?? feedback["blockReason"];
  return typeof reason === "string" && reason !== "" ? `the prompt was blocked: ${reason}` : undefined;
}
