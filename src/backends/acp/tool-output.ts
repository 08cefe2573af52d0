// What a tool gave back, from the places where agents put it: the content of its last update, `rawOutput`, or the pieces
// of a terminal that came in `_meta`.

import type { JsonObject } from "../../base/json.ts";
import { changesText } from "../../protocol/change-words.ts";
import { objectOf, objectsOf, stringOf } from "../values.ts";
import { changesIn } from "./diffs.ts";
import { toBlock } from "./texts.ts";

/** What is known from earlier updates. */
export interface Ran {
  terminal: string;
  exitCode: number | undefined;
  progress: unknown;
}

/** Undefined: it gave nothing back. */
export function outputOf(update: JsonObject, ran?: Ran): unknown {
  const raw = update["rawOutput"];
  const output =
    contentOutput(update["content"]) ??
    (raw === null || raw === undefined || raw === "" ? undefined : raw) ??
    (ran?.terminal || undefined) ??
    contentOutput(ran?.progress);
  const code = ran?.exitCode;
  if (code === undefined || code === 0 || (output !== undefined && typeof output !== "string")) return output;
  return [...(output === undefined ? [] : [output]), `[exit code ${code}]`].join("\n");
}

/** What a command has printed meanwhile, and its exit code (codex-acp). */
export function terminalOf(update: JsonObject): { printed?: string; exitCode?: number } {
  const meta = objectOf(update["_meta"]);
  const printed = stringOf(objectOf(meta["terminal_output_delta"])["data"]);
  const code = objectOf(meta["terminal_exit"])["exit_code"];
  return {
    ...(printed === undefined || printed === "" ? {} : { printed }),
    ...(typeof code === "number" ? { exitCode: code } : {}),
  };
}

/** A text when all of it is text, else its blocks. A diff is what was done: its path says enough. */
export function contentOutput(content: unknown): unknown {
  const entries = objectsOf(content);
  const blocks = entries.flatMap((entry) => {
    if (entry["type"] === "content") return [toBlock(objectOf(entry["content"]))];
    return changesIn([entry]).map((change) => ({ type: "text", text: changesText([change]) }));
  });
  if (blocks.length === 0) return undefined;
  const texts = blocks.map((block) => (block.type === "text" ? stringOf(block["text"]) : undefined));
  if (texts.some((text) => text === undefined)) return blocks;
  const text = texts.join("\n");
  return text === "" ? undefined : text;
}
