// Records of a Claude Code transcript → events (2.1.325). Its `user` and `assistant` records have the messages of the frames
// of the same name; results of turns are not recorded, and are derived.
import type { JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asString } from "../../base/values.ts";
import type { AgentEvent, ResultEvent } from "../../protocol/events.ts";
import { toNotice } from "../../protocol/notices.ts";
import type { TranscriptReader } from "../types.ts";
import { translateAssistant, translateUser } from "./message-frames.ts";
import { createState } from "./state.ts";

const INTERRUPTED = "[Request interrupted by user";
/** The last message of a turn has one of these. */
const FINAL: ReadonlySet<unknown> = new Set(["end_turn", "stop_sequence", "max_tokens", "refusal"]);

export function createTranscriptReader(): TranscriptReader {
  const state = createState({ session_id: "", options: { user_echo: true }, projects: "" });
  let isOpen = false;

  function end(subtype: ResultEvent["subtype"]): AgentEvent[] {
    if (!isOpen) return [];
    isOpen = false;
    return [{ type: "agent.result", backend: "claude", subtype }];
  }

  function readUser(record: JsonObject): AgentEvent[] {
    const events = translateUser(state, record);
    if (events.every(({ type }) => type !== "agent.user_echo")) return events;
    const text = readText(record);
    if (text.startsWith(INTERRUPTED)) return end("interrupted");
    // <command-name>, <local-command-stdout>, <task-notification>: not written by the user.
    if (text.startsWith("<")) return [];
    const before = end("success");
    isOpen = true;
    return [...before, ...events];
  }

  function readAssistant(record: JsonObject): AgentEvent[] {
    const message = asObject(record["message"]);
    // What Claude Code writes in the model's name when there is no answer.
    if (message["model"] === "<synthetic>" && record["isApiErrorMessage"] !== true) return [];
    isOpen = true;
    const events = translateAssistant(state, record);
    const hasText = asObjects(message["content"]).some(({ type }) => type === "text");
    return hasText && FINAL.has(message["stop_reason"]) ? [...events, ...end("success")] : events;
  }

  return {
    read(record) {
      const { type, subtype } = record;
      if (record["isSidechain"] === true || record["isMeta"] === true) return [];
      if (type === "system" && subtype === "compact_boundary") return [toNotice("claude", "compacted")];
      if (record["isCompactSummary"] === true) return [];
      if (type === "user") return readUser(record);
      return type === "assistant" ? readAssistant(record) : [];
    },
    end: () => end("interrupted"),
  };
}

function readText(record: JsonObject): string {
  const { content } = asObject(record["message"]);
  if (typeof content === "string") return content;
  const [block] = asObjects(content).filter(({ type }) => type === "text");
  return asString(block?.["text"]) ?? "";
}
