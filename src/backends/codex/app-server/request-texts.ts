// Words and choices that the requests share.
import type { JsonObject } from "../../../base/json.ts";
import type { Choice } from "../../../protocol/requests.ts";
import { textOf } from "../../values.ts";
import type { CodexState, OpenItem } from "./state.ts";

export const DECLINE: Choice = { decision: "decline" };
/** Declines and ends the turn. */
export const CANCEL: Choice = { decision: "cancel" };

/** A file that Codex writes: where, as far as we know its home. */
export function homePath(state: CodexState, name: string): string {
  return `${state.codexHome ?? "$CODEX_HOME"}/${name}`;
}

/** The item that a request is about: some requests do not repeat what is in it. */
export function itemFor(state: CodexState, params: JsonObject): JsonObject {
  const [threadId, itemId] = [textOf(params["threadId"]), textOf(params["itemId"])];
  if (threadId === undefined || itemId === undefined) return {};
  return state.threads.get(threadId)?.open.get(itemId)?.item ?? {};
}

export function openItems(state: CodexState, params: JsonObject): OpenItem[] {
  return [...(state.threads.get(textOf(params["threadId"]) ?? "")?.open.values() ?? [])];
}
