// The first part of a rollout file → what a list shows of it. Two forms: 0.125 tells the user's text as
// `user_message`, 0.166 as a completed `UserMessage` item; the model stands in the first `turn_context` of both.
import { isObject, type JsonObject } from "../../base/json.ts";
import { readHeadRecords } from "../head-lines.ts";

export interface RolloutHead {
  cwd?: string;
  model?: string;
  preview?: string;
}

/** 0.166 writes 21 kB of instructions into the first line, and more before the user's text. */
const HEAD_BYTES = 128 * 1024;
const PREVIEW_CHARS = 200;
/** What Codex writes in the user's name. */
const NOT_THE_USERS = /^\s*<(environment_context|permissions|user_instructions)\b/;

interface Reading extends RolloutHead {
  /** Its line `session_meta` was seen: this is a rollout. */
  isKnown?: true;
  isSubAgent?: true;
}

/** Undefined when it is damaged, or the thread of a sub-agent: not a session of its own. */
export async function readRolloutHead(file: string): Promise<RolloutHead | undefined> {
  const { isKnown, isSubAgent, ...head } = await readLines(file).catch((): Reading => ({}));
  return isKnown === true && isSubAgent !== true ? head : undefined;
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
  const payload = isObject(record["payload"]) ? record["payload"] : {};
  // A thread that was forked carries the first line of the other one too, behind its own.
  if (record["type"] === "session_meta" && reading.isKnown === undefined) readMeta(reading, payload);
  if (record["type"] === "turn_context" && typeof payload["model"] === "string") {
    reading.model ??= payload["model"];
  }
  const preview = reading.preview === undefined ? previewOf(record, payload) : undefined;
  if (preview !== undefined) reading.preview = preview;
}

function readMeta(reading: Reading, meta: JsonObject): void {
  reading.isKnown = true;
  if (typeof meta["cwd"] === "string") reading.cwd = meta["cwd"];
  const { source } = meta;
  const isSubAgent =
    typeof meta["parent_thread_id"] === "string" ||
    meta["thread_source"] === "subagent" ||
    source === "subagent" ||
    (isObject(source) && "subagent" in source);
  if (isSubAgent) reading.isSubAgent = true;
}

function previewOf(record: JsonObject, payload: JsonObject): string | undefined {
  if (record["type"] !== "event_msg") return undefined;
  const text = payload["type"] === "user_message" ? payload["message"] : itemText(payload);
  if (typeof text !== "string" || text === "" || NOT_THE_USERS.test(text)) return undefined;
  return text.slice(0, PREVIEW_CHARS);
}

function itemText(payload: JsonObject): unknown {
  const item = payload["item"];
  if (payload["type"] !== "item_completed" || !isObject(item) || item["type"] !== "UserMessage")
    return undefined;
  const blocks: unknown[] = Array.isArray(item["content"]) ? item["content"] : [];
  const block = blocks.find((one) => isObject(one) && typeof one["text"] === "string");
  return isObject(block) ? block["text"] : undefined;
}
