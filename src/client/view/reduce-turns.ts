// Turns: the message that starts them, their result, and the agent's description of itself.

import { isObject } from "../../base/json.ts";
import { asNumber, asObject, asObjects, asString, asStrings, asText, defined } from "../../base/values.ts";
import { computeWaitedMs, NO_WAIT } from "../../base/wait-clock.ts";
import type { NotRunReason } from "../../protocol/not-run.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { WireFrame } from "../frames.ts";
import { type Draft, getEntryAt, type Moment, push, readData, replace } from "./draft.ts";
import { truncate } from "./limits.ts";
import { remember } from "./memory.ts";
import { closeBlocks } from "./reduce-texts.ts";
import { loseTools } from "./reduce-tools.ts";

/** The daemon's limit for the text of a delivery notice. */
const MAX_NOTICE_CHARS = 64 * 1024;

export function reduceInit(draft: Draft, frame: WireFrame): void {
  draft.view.agent = {
    ...draft.view.agent,
    ...defined({
      backend: asText(frame["backend"]),
      model: asText(frame["model"]),
      cwd: asText(frame["cwd"]),
      context_window: asNumber(frame["context_window"]),
    }),
  };
  draft.hasChanged = true;
}

/** The agent has forgotten turns: everything from the first of them up to now. */
export function forgetTurns(draft: Draft, frame: WireFrame): void {
  const { view, entries, memory } = draft;
  const places = asStrings(readData(frame)["turn_ids"]).flatMap((id) => memory.turns.get(id) ?? []);
  if (places.length === 0) return;
  const first = Math.max(0, Math.min(...places) - view.dropped);
  for (const [index, entry] of entries.entries())
    if (index >= first && entry.isUndone === undefined) entries[index] = { ...entry, isUndone: true };
  draft.hasChanged = true;
}

/** The next entry is its first, unless an earlier one is. */
function noteTurn({ view, entries, memory }: Draft, turn_id: unknown): void {
  if (typeof turn_id !== "string" || memory.turns.has(turn_id)) return;
  remember(memory.turns, turn_id, view.dropped + entries.length);
}

export function beginTurn(draft: Draft, frame: WireFrame, moment: Moment): void {
  noteTurn(draft, readData(frame)["turn_id"]);
  const started_at_ms = asNumber(readData(frame)["started_at_ms"]) ?? moment.at_ms;
  draft.view.turn = defined({ started_at_ms });
  draft.memory.hasCrashed = false;
  draft.memory.isTurnKnown = true;
  draft.hasChanged = true;
}

/** For readers that start in the middle of a turn. */
export function assumeTurn(draft: Draft): void {
  if (draft.memory.isTurnKnown || draft.view.turn !== undefined) return;
  draft.view.turn = {};
  draft.hasChanged = true;
}

export function reduceResult(draft: Draft, frame: WireFrame, moment: Moment): void {
  const { waits = NO_WAIT } = draft.view.turn ?? {};
  const waited = computeWaitedMs(waits, moment.at_ms ?? waits.sinceMs);
  closeAll(draft, moment.at_ms, frame["subtype"] === "interrupted" ? "interrupted" : "withdrawn");
  draft.memory.isTurnKnown = true;
  const error = asObject(frame["error"]);
  const why = asText(error["message"]) ?? asText(error["code"]);
  const usage = frame["usage"];
  push(draft, moment, {
    kind: "result",
    subtype: asText(frame["subtype"]) ?? "unknown",
    ...defined({ duration_ms: asNumber(frame["duration_ms"]) }),
    ...(waited > 0 ? { waited_ms: waited } : {}),
    ...defined({
      usage: isObject(usage) ? readUsage(usage) : undefined,
      cost_usd: asNumber(frame["cost_usd"]),
      error: why === undefined || isSaid(draft, why) ? undefined : truncate(why, draft.limits.maxText),
    }),
  });
}

/** Whether the last entry already says why the turn failed. */
function isSaid({ entries }: Draft, why: string): boolean {
  const last = entries.at(-1);
  const isWhy = last?.kind === "text" || (last?.kind === "notice" && last.level === "error");
  const said = isWhy ? last.text.trim() : "";
  // The generic JSON-RPC prefix.
  const reason = why.replace(/^Internal error: /, "").trim();
  return said !== "" && (said === reason || said.endsWith(`: ${reason}`));
}

/** Ends everything that is open. */
export function closeAll(draft: Draft, at_ms: number | undefined, cause: NotRunReason = "interrupted"): void {
  closeBlocks(draft, at_ms, () => true);
  loseTools(draft, cause);
  draft.memory.hasCrashed = false;
  draft.memory.delivered = [];
  delete draft.view.turn;
  draft.hasChanged = true;
}

/** A queued message whose turn starts. The queue may have more of it than the notice. */
export function reduceDelivered(draft: Draft, frame: WireFrame, moment: Moment): void {
  const { message_id, from, merged_into, attachments, turn_id } = readData(frame);
  noteTurn(draft, turn_id);
  // Shown with the first of the wakes that became one message.
  if (merged_into !== undefined) return;
  const delivered = asString(frame["text"]) ?? "";
  const queued = draft.view.queue.find((message) => message.message_id === message_id);
  const whole = queued === undefined ? undefined : readContent(queued.message.content);
  const cut = delivered.length >= MAX_NOTICE_CHARS ? `${delivered}…` : delivered;
  const at = push(draft, moment, {
    kind: "user",
    text: truncate(whole?.text.startsWith(delivered) ? whole.text : cut, draft.limits.maxText),
    ...defined({ attachments: whole?.attachments || asNumber(attachments), from: asText(from) }),
  });
  draft.memory.delivered.push({ at, text: delivered });
}

/** A message as the agent received it. Not shown twice if its delivery was shown. */
export function reduceEcho(draft: Draft, frame: WireFrame, moment: Moment): void {
  const { text, attachments } = readContent(asObject(frame["message"])["content"]);
  const { delivered } = draft.memory;
  const index =
    moment.parent === undefined ? delivered.findIndex((message) => isSame(message.text, text)) : -1;
  const [found] = index === -1 ? [] : delivered.splice(index, 1);
  const kept = truncate(text, draft.limits.maxText);
  const more = attachments === 0 ? {} : { attachments };
  if (found === undefined) {
    if (text !== "" || attachments > 0) push(draft, moment, { kind: "user", text: kept, ...more });
    return;
  }
  const entry = getEntryAt(draft, found.at);
  if (entry?.kind === "user")
    replace(draft, found.at, { ...entry, text: kept === "" ? entry.text : kept, ...more });
}

function isSame(delivered: string, echoed: string): boolean {
  const [a, b] = [delivered, echoed].map((text) => text.replace(/\s+/g, " ").trim());
  return a === b || (delivered.length >= MAX_NOTICE_CHARS && (b ?? "").startsWith(a ?? ""));
}

function readContent(content: unknown): { text: string; attachments: number } {
  if (typeof content === "string") return { text: content, attachments: 0 };
  const blocks = asObjects(content);
  const texts = blocks.filter(({ type }) => type === "text").map(({ text }) => asString(text) ?? "");
  return { text: texts.join("\n"), attachments: blocks.length - texts.length };
}

function readUsage(usage: Readonly<Record<string, unknown>>): Usage {
  return Object.fromEntries(
    Object.entries(usage).filter((pair): pair is [string, number] => asNumber(pair[1]) !== undefined),
  );
}
