// What the agent says and thinks: pieces grow an entry, and the whole message puts it right, block by block. Either may
// come without the other.
import type { JsonObject } from "../../base/json.ts";
import type { WireFrame } from "../frames.ts";
import { type Draft, entryAt, type Moment, push, replace } from "./draft.ts";
import { appendText, headOf } from "./limits.ts";
import type { OpenBlock } from "./memory.ts";
import { addToolInput, endTool, tellToolInput } from "./reduce-tools.ts";
import type { TextEntry, ThinkingEntry } from "./types.ts";
import { jsonText, numberOf, objectsOf, optional, stringOf, wordOf } from "./values.ts";

type Kind = OpenBlock["kind"];

/** An agent that ends nothing must not make us remember all of it. */
const MAX_OPEN = 100;

export function reduceDelta(draft: Draft, frame: WireFrame, moment: Moment): void {
  const { kind } = frame;
  if (kind === "tool_input") addToolInput(draft, frame, moment);
  const text = stringOf(frame["text"]) ?? "";
  if ((kind !== "text" && kind !== "thinking") || text === "") return;
  const item_id = wordOf(frame["item_id"]);
  const index = numberOf(frame["index"]);
  const key = keyOf(kind, moment.parent, item_id, index);
  const known = draft.memory.open.get(key);
  // Of some agents one thought has several parts.
  const isNewPart =
    item_id !== undefined && index !== undefined && known?.index !== undefined && known.index !== index;
  const block: OpenBlock = {
    ...(known ?? { kind, ...optional("parent", moment.parent), ...optional("item_id", item_id) }),
    ...optional("index", index),
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

function keyOf(
  kind: Kind,
  parent: string | undefined,
  item_id: string | undefined,
  index: number | undefined,
): string {
  return jsonText([kind, parent ?? null, item_id ?? index ?? null]);
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
    // What is blank so far is not shown: some agents say a line break before each tool.
    if (whole.trim() === "") block.blank = whole.slice(0, maxText);
    else {
      block.blank = "";
      block.at = push(draft, moment, {
        kind: block.kind,
        text: headOf(whole, maxText),
        isOpen: true,
      });
    }
  }
  block.chars += text.length;
}

/** Whoever begins something else has said what it had to say before. A message may still put it right. */
export function settleOthers(draft: Draft, { parent, at_ms }: Moment, key?: string): void {
  for (const [other, block] of draft.memory.open)
    if (other !== key && block.parent === parent) settle(draft, block, at_ms);
}

function settle(draft: Draft, { at }: OpenBlock, at_ms: number | undefined): void {
  const entry = spokenAt(draft, at);
  if (at === undefined || entry === undefined || !entry.isOpen) return;
  const ended = entry.kind === "thinking" ? optional("ended_at_ms", at_ms) : {};
  replace(draft, at, { ...entry, isOpen: false, ...ended });
}

/** Nothing more comes for these: of this speaker, or of all. */
export function closeBlocks(
  draft: Draft,
  at_ms: number | undefined,
  isMeant: (block: OpenBlock) => boolean,
): void {
  for (const [key, block] of draft.memory.open) {
    if (!isMeant(block)) continue;
    settle(draft, block, at_ms);
    draft.memory.open.delete(key);
  }
}

export function reduceMessage(draft: Draft, frame: WireFrame, moment: Moment): void {
  const message_id = wordOf(frame["message_id"]);
  for (const block of objectsOf(frame["content"])) {
    const type = stringOf(block["type"]) ?? "";
    if (type === "text") tellWhole(draft, moment, "text", stringOf(block["text"]) ?? "", message_id);
    else if (type === "thinking") {
      const thought = stringOf(block["thinking"]) ?? stringOf(block["text"]) ?? "";
      tellWhole(draft, moment, "thinking", thought, message_id);
    } else if (type.endsWith("tool_use")) tellToolInput(draft, block, moment);
    else if (type.endsWith("tool_result")) endTool(draft, block, moment);
    else if (type === "questions") tellWhole(draft, moment, "text", questionsText(block), message_id);
    else if (type !== "redacted_thinking" && type !== "")
      push(draft, moment, { kind: "text", text: `[${headOf(type, 40)}]`, isOpen: false });
  }
}

function tellWhole(
  draft: Draft,
  moment: Moment,
  kind: Kind,
  text: string,
  message_id: string | undefined,
): void {
  const { maxText } = draft.limits;
  const found = openFor(draft, kind, moment.parent, message_id, text);
  if (found !== undefined) draft.memory.open.delete(found.key);
  const entry = spokenAt(draft, found?.block.at);
  if (found?.block.at !== undefined) {
    // One that is no longer kept is not shown anew.
    if (entry === undefined) return;
    const ended = kind === "thinking" && entry.isOpen ? optional("ended_at_ms", moment.at_ms) : {};
    const whole = text.trim() === "" ? entry.text : headOf(text, maxText);
    if (entry.isOpen || whole !== entry.text)
      replace(draft, found.block.at, { ...entry, text: whole, isOpen: false, ...ended });
    return;
  }
  if (text.trim() === "") return;
  settleOthers(draft, moment);
  push(draft, moment, { kind, text: headOf(text, maxText), isOpen: false });
}

/** The block that this text is the whole of: the one of that id, else the one that began like it, else the oldest. */
function openFor(
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
  const entry = entryAt(draft, at);
  return entry?.kind === "text" || entry?.kind === "thinking" ? entry : undefined;
}

/** Questions that an agent asks in passing, without waiting. */
function questionsText(block: JsonObject): string {
  return objectsOf(block["questions"])
    .map(({ question, text }) => stringOf(question) ?? stringOf(text) ?? "")
    .filter((question) => question !== "")
    .map((question) => `? ${question}`)
    .join("\n");
}
