// The start of a rollout file → its row in a list. Codex changed the format several times: cwd and model are in
// `session_meta` and `turn_context`, before that in `session_configured`; the user's text is a completed `UserMessage`
// item (0.166), a `user_message` (0.125), or only a `response_item`.
import { isObject, type JsonObject } from "../../base/json.ts";
import { readHeadRecords } from "../head-lines.ts";
import type { TranscriptHead } from "../types.ts";

/** 0.166 writes 21 kB of instructions into the first line, and more before the user's text. */
const HEAD_BYTES = 128 * 1024;
const PREVIEW_CHARS = 200;
/** What Codex writes in the user's name. */
export const NOT_THE_USERS =
  /^\s*(<(environment_context|permissions|user_instructions)\b|# AGENTS\.md instructions)/;

interface Reading extends TranscriptHead {
  /** A line was seen that only rollouts have. */
  isKnown?: true;
  /** Its `session_meta` or `session_configured` was seen. */
  hasMeta?: true;
  isSubAgent?: true;
  /** The user's first text as sent to the model: for files that have it nowhere else. */
  sent?: string;
}

/** Undefined if it is damaged, or the thread of a sub-agent, which is not a session. */
export async function readRolloutHead(file: string): Promise<TranscriptHead | undefined> {
  const reading = await readLines(file).catch((): Reading => ({}));
  const { isKnown, hasMeta: _meta, isSubAgent, sent, ...head } = reading;
  if (isKnown !== true || isSubAgent === true) return undefined;
  return sent === undefined ? head : { preview: sent, ...head };
}

async function readLines(file: string): Promise<Reading> {
  const reading: Reading = {};
  await readHeadRecords(file, HEAD_BYTES, (record) => {
    readRecord(reading, record);
    return isEnough(reading);
  });
  return reading;
}

function isEnough({ isSubAgent, cwd, model, preview }: Reading): boolean {
  return isSubAgent === true || (cwd !== undefined && model !== undefined && preview !== undefined);
}

function readRecord(reading: Reading, record: JsonObject): void {
  const { type, payload } = readBody(record);
  // A forked thread also contains the first line of the other one, after its own.
  if ((type === "session_meta" || type === "session_configured") && reading.hasMeta === undefined) {
    readMeta(reading, payload);
  }
  if (type === "response_item") reading.isKnown = true;
  const isModelKnown = type === "turn_context" || type === "session_configured";
  if (isModelKnown && typeof payload["model"] === "string") reading.model ??= payload["model"];
  const preview = reading.preview === undefined ? readUsersText(findSaid(type, payload)) : undefined;
  if (preview !== undefined) reading.preview = preview;
  const sent = reading.sent === undefined ? readUsersText(findSent(type, payload)) : undefined;
  if (sent !== undefined) reading.sent = sent;
}

/** `{type, payload}`; an event is in the payload, or in `msg`, or is the line itself. */
function readBody(record: JsonObject): { type: unknown; payload: JsonObject } {
  const event = record["type"] === "event_msg" ? record["payload"] : record["msg"];
  if (isObject(event)) return { type: event["type"], payload: event };
  const { type, payload } = record;
  if (!isObject(payload)) return { type, payload: record };
  return payload["type"] === "session_configured" ? { type: payload["type"], payload } : { type, payload };
}

function readMeta(reading: Reading, meta: JsonObject): void {
  reading.isKnown = true;
  reading.hasMeta = true;
  if (typeof meta["cwd"] === "string") reading.cwd = meta["cwd"];
  const { source } = meta;
  const isSubAgent =
    typeof meta["parent_thread_id"] === "string" ||
    meta["thread_source"] === "subagent" ||
    source === "subagent" ||
    (isObject(source) && "subagent" in source);
  if (isSubAgent) reading.isSubAgent = true;
}

function findSaid(type: unknown, payload: JsonObject): unknown {
  if (type === "user_message") return payload["message"];
  const item = payload["item"];
  if (type !== "item_completed" || !isObject(item) || item["type"] !== "UserMessage") return undefined;
  return textIn(item["content"]);
}

function findSent(type: unknown, payload: JsonObject): unknown {
  if (type !== "response_item" || payload["type"] !== "message" || payload["role"] !== "user")
    return undefined;
  return textIn(payload["content"]);
}

function textIn(content: unknown): unknown {
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  const block = blocks.find((one) => isObject(one) && typeof one["text"] === "string");
  return isObject(block) ? block["text"] : undefined;
}

function readUsersText(text: unknown): string | undefined {
  if (typeof text !== "string" || text === "" || NOT_THE_USERS.test(text)) return undefined;
  return text.slice(0, PREVIEW_CHARS);
}
