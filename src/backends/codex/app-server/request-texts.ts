// Texts and choices shared by the requests.

import type { JsonObject } from "../../../base/json.ts";
import { asText } from "../../../base/values.ts";
import type { Choice } from "../../../protocol/requests.ts";
import type { CodexState, OpenItem } from "./state.ts";

export const DECLINE: Choice = { decision: "decline" };
/** Declines and ends the turn. */
export const CANCEL: Choice = { decision: "cancel" };

/** A file that Codex writes: its path, as far as its home is known. */
export function toHomePath(state: CodexState, name: string): string {
  return `${state.codexHome ?? "$CODEX_HOME"}/${name}`;
}

/** The item of a request: some requests do not repeat its content. */
export function findItem(state: CodexState, params: JsonObject): JsonObject {
  const [threadId, itemId] = [asText(params["threadId"]), asText(params["itemId"])];
  if (threadId === undefined || itemId === undefined) return {};
  return state.threads.get(threadId)?.open.get(itemId)?.item ?? {};
}

export function openItems(state: CodexState, params: JsonObject): OpenItem[] {
  return [...(state.threads.get(asText(params["threadId"]) ?? "")?.open.values() ?? [])];
}
