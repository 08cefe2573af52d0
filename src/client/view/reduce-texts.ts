// Text and thinking: deltas grow an entry, and the complete message corrects it, block by block. Either may come
// without the other.

import type { JsonObject } from "../../base/json.ts";
import { asNumber, asObjects, asString, asText, defined } from "../../base/values.ts";
import type { WireFrame } from "../frames.ts";
import { type Draft, getEntryAt, type Moment, push, replace } from "./draft.ts";
import { appendText, truncate } from "./limits.ts";
import type { OpenBlock } from "./memory.ts";
import { addToolInput, completeToolInput, endTool } from "./reduce-tools.ts";
import type { TextEntry, ThinkingEntry } from "./types.ts";
import { formatJson } from "./values.ts";

type Kind = OpenBlock["kind"];

/** Bounds memory for agents that never end a block. */
const MAX_OPEN = 100;

export function reduceDelta(draft: Draft, frame: WireFrame, moment: Moment): void {
  const { kind } = frame;
  if (kind === "tool_input") addToolInput(draft, frame, moment);
  const text = asString(frame["text"]) ?? "";
  if ((kind !== "text" && kind !== "thinking") || text === "") return;
  const item_id = asText(frame["item_id"]);
  const index = asNumber(frame["index"]);
  const key = toKey(kind, moment.parent, item_id, index);
  const known = draft.memory.open.get(key);
  // Some agents split thinking into several parts.
  const isNewPart =
    item_id !== undefined && index !== undefined && known?.index !== undefined && known.index !== index;
  const block: OpenBlock = {
    ...(known ?? { kind, ...defined({ parent: moment.parent, item_id }) }),
    ...defined({ index }),
    chars: known?.chars ?? 0,
    blank: known?.blank ?? "",
  };
  settleOthers(draft, moment, key);
  grow(draft, moment, block, isNewPart && block.chars > 0 ? `\n\n${text}` : text);
  draft.memory.open.set(key, block);
  const [oldest] = draft.memory.open;
  if (draft.memory.open.size <= MAX_OPEN || oldest === undefined) return;
  settle(draft, oldest[1], moment.at_ms);
  draft.memory.open.delete(oldest[0]);
}

function toKey(
  kind: Kind,
  parent: string | undefined,
  item_id: string | undefined,
  index: number | undefined,
): string {
  return formatJson([kind, parent ?? null, item_id ?? index ?? null]);
}

function grow(draft: Draft, moment: Moment, block: OpenBlock, text: string): void {
  const { maxText } = draft.limits;
  const entry = spokenAt(draft, block.at);
  if (entry !== undefined && block.at !== undefined) {
    const { ended_at_ms: _ended, ...rest } = entry as ThinkingEntry;
    const grown = appendText(entry.text, block.chars, text, maxText);
    if (grown !== entry.text || !entry.isOpen)
      replace(draft, block.at, { ...rest, kind: block.kind, text: grown, isOpen: true } as TextEntry);
  } else if (block.at === undefined) {
    const whole = block.blank + text;
    // Blank text is not shown: some agents send a newline before each tool.
    if (whole.trim() === "") block.blank = whole.slice(0, maxText);
    else {
      block.blank = "";
      block.at = push(draft, moment, {
        kind: block.kind,
        text: truncate(whole, maxText),
        isOpen: true,
      });
    }
  }
  block.chars += text.length;
}

/** A new block ends the others of the same writer. A message may still correct them. */
export function settleOthers(draft: Draft, { parent, at_ms }: Moment, key?: string): void {
  for (const [other, block] of draft.memory.open)
    if (other !== key && block.parent === parent) settle(draft, block, at_ms);
}

function settle(draft: Draft, { at }: OpenBlock, at_ms: number | undefined): void {
  const entry = spokenAt(draft, at);
  if (at === undefined || entry === undefined || !entry.isOpen) return;
  const ended = entry.kind === "thinking" ? defined({ ended_at_ms: at_ms }) : {};
  replace(draft, at, { ...entry, isOpen: false, ...ended });
}

export function closeBlocks(
  draft: Draft,
  at_ms: number | undefined,
  isWanted: (block: OpenBlock) => boolean,
): void {
  for (const [key, block] of draft.memory.open) {
    if (!isWanted(block)) continue;
    settle(draft, block, at_ms);
    draft.memory.open.delete(key);
  }
}

export function reduceMessage(draft: Draft, frame: WireFrame, moment: Moment): void {
  const message_id = asText(frame["message_id"]);
  for (const block of asObjects(frame["content"])) {
    const type = asString(block["type"]) ?? "";
    if (type === "text") addWhole(draft, moment, "text", asString(block["text"]) ?? "", message_id);
    else if (type === "thinking") {
      const thought = asString(block["thinking"]) ?? asString(block["text"]) ?? "";
      addWhole(draft, moment, "thinking", thought, message_id);
    } else if (type.endsWith("tool_use")) completeToolInput(draft, block, moment);
    else if (type.endsWith("tool_result")) endTool(draft, block, moment);
    else if (type === "questions") addWhole(draft, moment, "text", questionsText(block), message_id);
    else if (type !== "redacted_thinking" && type !== "")
      push(draft, moment, { kind: "text", text: `[${truncate(type, 40)}]`, isOpen: false });
  }
}

function addWhole(
  draft: Draft,
  moment: Moment,
  kind: Kind,
  text: string,
  message_id: string | undefined,
): void {
  const { maxText } = draft.limits;
  const found = findOpen(draft, kind, moment.parent, message_id, text);
  if (found !== undefined) draft.memory.open.delete(found.key);
  const entry = spokenAt(draft, found?.block.at);
  if (found?.block.at !== undefined) {
    // An entry that was dropped is not shown again.
    if (entry === undefined) return;
    const ended = kind === "thinking" && entry.isOpen ? defined({ ended_at_ms: moment.at_ms }) : {};
    const whole = text.trim() === "" ? entry.text : truncate(text, maxText);
    if (entry.isOpen || whole !== entry.text)
      replace(draft, found.block.at, { ...entry, text: whole, isOpen: false, ...ended });
    return;
  }
  if (text.trim() === "") return;
  settleOthers(draft, moment);
  push(draft, moment, { kind, text: truncate(text, maxText), isOpen: false });
}

/** The open block of a complete text: by id, else by its beginning, else the oldest. */
function findOpen(
  draft: Draft,
  kind: Kind,
  parent: string | undefined,
  message_id: string | undefined,
  text: string,
): { key: string; block: OpenBlock } | undefined {
  const fitting = [...draft.memory.open]
    .map(([key, block]) => ({ key, block }))
    .filter(({ block }) => block.kind === kind && block.parent === parent);
  const named = fitting.find(({ block }) => message_id !== undefined && block.item_id === message_id);
  if (named !== undefined) return named;
  const nameless = fitting.filter(({ block }) => block.item_id === undefined || message_id === undefined);
  const begun = nameless.find(({ block }) => {
    const said = spokenAt(draft, block.at)?.text ?? block.blank;
    return said !== "" && text.startsWith(said);
  });
  return begun ?? nameless[0];
}

function spokenAt(draft: Draft, at: number | undefined): TextEntry | ThinkingEntry | undefined {
  const entry = getEntryAt(draft, at);
  return entry?.kind === "text" || entry?.kind === "thinking" ? entry : undefined;
}

/** Questions the agent asks without waiting for an answer. */
function questionsText(block: JsonObject): string {
  return asObjects(block["questions"])
    .map(({ question, text }) => asString(question) ?? asString(text) ?? "")
    .filter((question) => question !== "")
    .map((question) => `? ${question}`)
    .join("\n");
}
