// Turns: what they begin with (the message), how they end, and what the agent says of itself.

import { isObject } from "../../base/json.ts";
import { NO_WAIT, waitedMs } from "../../base/wait-clock.ts";
import type { NotRunReason } from "../../protocol/not-run.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { WireFrame } from "../frames.ts";
import { type Draft, dataOf, entryAt, type Moment, push, replace } from "./draft.ts";
import { headOf } from "./limits.ts";
import { closeBlocks } from "./reduce-texts.ts";
import { loseTools } from "./reduce-tools.ts";
import { numberOf, objectOf, objectsOf, optional, stringOf, wordOf } from "./values.ts";

/** The daemon tells only so much of a message when it is delivered. */
const TOLD_CHARS = 64 * 1024;

export function reduceInit(draft: Draft, frame: WireFrame): void {
  draft.view.agent = {
    ...draft.view.agent,
    ...optional("backend", wordOf(frame["backend"])),
    ...optional("model", wordOf(frame["model"])),
    ...optional("cwd", wordOf(frame["cwd"])),
    ...optional("context_window", numberOf(frame["context_window"])),
  };
  draft.hasChanged = true;
}

export function beginTurn(draft: Draft, frame: WireFrame, moment: Moment): void {
  const started_at_ms = numberOf(dataOf(frame)["started_at_ms"]) ?? moment.at_ms;
  draft.view.turn = optional("started_at_ms", started_at_ms);
  draft.memory.hasCrashed = false;
  draft.memory.isTurnKnown = true;
  draft.hasChanged = true;
}

/** Who begins to read in the middle of a turn has not seen its beginning. */
export function assumeTurn(draft: Draft): void {
  if (draft.memory.isTurnKnown || draft.view.turn !== undefined) return;
  draft.view.turn = {};
  draft.hasChanged = true;
}

export function reduceResult(draft: Draft, frame: WireFrame, moment: Moment): void {
  const { waits = NO_WAIT } = draft.view.turn ?? {};
  const waited = waitedMs(waits, moment.at_ms ?? waits.sinceMs);
  closeAll(draft, moment.at_ms, frame["subtype"] === "interrupted" ? "interrupted" : "withdrawn");
  draft.memory.isTurnKnown = true;
  const error = objectOf(frame["error"]);
  const why = wordOf(error["message"]) ?? wordOf(error["code"]);
  const usage = frame["usage"];
  push(draft, moment, {
    kind: "result",
    subtype: wordOf(frame["subtype"]) ?? "unknown",
    ...optional("duration_ms", numberOf(frame["duration_ms"])),
    ...(waited > 0 ? { waited_ms: waited } : {}),
    ...optional("usage", isObject(usage) ? countsIn(usage) : undefined),
    ...optional("cost_usd", numberOf(frame["cost_usd"])),
    ...optional(
      "error",
      why === undefined || isSaid(draft, why) ? undefined : headOf(why, draft.limits.maxText),
    ),
  });
}

/** Why a turn failed is often what was said last: by the agent itself, or by the daemon when the agent died. */
function isSaid({ entries }: Draft, why: string): boolean {
  const last = entries.at(-1);
  const isWhy = last?.kind === "text" || (last?.kind === "notice" && last.level === "error");
  const said = isWhy ? last.text.trim() : "";
  // What JSON-RPC calls every failure says nothing.
  const words = why.replace(/^Internal error: /, "").trim();
  return said !== "" && (said === words || said.endsWith(`: ${words}`));
}

/** Nothing that is open goes on. */
export function closeAll(draft: Draft, at_ms: number | undefined, cause: NotRunReason = "interrupted"): void {
  closeBlocks(draft, at_ms, () => true);
  loseTools(draft, cause);
  draft.memory.hasCrashed = false;
  draft.memory.told = [];
  delete draft.view.turn;
  draft.hasChanged = true;
}

/** A message of the queue whose turn begins. The queue may know more of it than the notice does. */
export function reduceDelivered(draft: Draft, frame: WireFrame, moment: Moment): void {
  const { message_id, from } = dataOf(frame);
  const told = stringOf(frame["text"]) ?? "";
  const queued = draft.view.queue.find((message) => message.message_id === message_id);
  const whole = queued === undefined ? undefined : contentOf(queued.message.content);
  const cut = told.length >= TOLD_CHARS ? `${told}…` : told;
  const at = push(draft, moment, {
    kind: "user",
    text: headOf(whole?.text.startsWith(told) ? whole.text : cut, draft.limits.maxText),
    ...optional("attachments", whole?.attachments || undefined),
    ...optional("from", wordOf(from)),
  });
  draft.memory.told.push({ at, text: told });
}

/** What the agent was told, as it took it. What was told when it was delivered is not shown twice. */
export function reduceEcho(draft: Draft, frame: WireFrame, moment: Moment): void {
  const { text, attachments } = contentOf(objectOf(frame["message"])["content"]);
  const { told } = draft.memory;
  const index = moment.parent === undefined ? told.findIndex((message) => isSame(message.text, text)) : -1;
  const [found] = index === -1 ? [] : told.splice(index, 1);
  const kept = headOf(text, draft.limits.maxText);
  const more = attachments === 0 ? {} : { attachments };
  if (found === undefined) {
    if (text !== "" || attachments > 0) push(draft, moment, { kind: "user", text: kept, ...more });
    return;
  }
  const entry = entryAt(draft, found.at);
  if (entry?.kind === "user")
    replace(draft, found.at, { ...entry, text: kept === "" ? entry.text : kept, ...more });
}

function isSame(told: string, echoed: string): boolean {
  const [a, b] = [told, echoed].map((text) => text.replace(/\s+/g, " ").trim());
  return a === b || (told.length >= TOLD_CHARS && (b ?? "").startsWith(a ?? ""));
}

function contentOf(content: unknown): { text: string; attachments: number } {
  if (typeof content === "string") return { text: content, attachments: 0 };
  const blocks = objectsOf(content);
  const texts = blocks.filter(({ type }) => type === "text").map(({ text }) => stringOf(text) ?? "");
  return { text: texts.join("\n"), attachments: blocks.length - texts.length };
}

function countsIn(usage: Readonly<Record<string, unknown>>): Usage {
  return Object.fromEntries(
    Object.entries(usage).filter((pair): pair is [string, number] => numberOf(pair[1]) !== undefined),
  );
}
