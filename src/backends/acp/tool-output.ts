// A tool's output, from where agents put it: the content of its last update, `rawOutput`, or terminal chunks in
// `_meta`.

import type { JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asString } from "../../base/values.ts";
import { formatChanges } from "../../protocol/change-labels.ts";
import { findChanges } from "./diffs.ts";
import { toBlock } from "./texts.ts";

/** Known from earlier updates. */
export interface Ran {
  terminal: string;
  exitCode: number | undefined;
  progress: unknown;
}

/** Undefined: no output. */
export function readOutput(update: JsonObject, ran?: Ran): unknown {
  const raw = update["rawOutput"];
  const output =
    readContentOutput(update["content"]) ??
    (raw === null || raw === undefined || raw === "" ? undefined : raw) ??
    (ran?.terminal || undefined) ??
    readContentOutput(ran?.progress);
  const code = ran?.exitCode;
  if (code === undefined || code === 0 || (output !== undefined && typeof output !== "string")) return output;
  return [...(output === undefined ? [] : [output]), `[exit code ${code}]`].join("\n");
}

/** Output of a command so far, and its exit code (codex-acp). */
export function readTerminal(update: JsonObject): { printed?: string; exitCode?: number } {
  const meta = asObject(update["_meta"]);
  const printed = asString(asObject(meta["terminal_output_delta"])["data"]);
  const code = asObject(meta["terminal_exit"])["exit_code"];
  return {
    ...(printed === undefined || printed === "" ? {} : { printed }),
    ...(typeof code === "number" ? { exitCode: code } : {}),
  };
}

/** A string if all of it is text, else its blocks. A diff is an action: its path is enough. */
export function readContentOutput(content: unknown): unknown {
  const entries = asObjects(content);
  const blocks = entries.flatMap((entry) => {
    if (entry["type"] === "content") return [toBlock(asObject(entry["content"]))];
    return findChanges([entry]).map((change) => ({ type: "text", text: formatChanges([change]) }));
  });
  if (blocks.length === 0) return undefined;
  const texts = blocks.map((block) => (block.type === "text" ? asString(block["text"]) : undefined));
  if (texts.some((text) => text === undefined)) return blocks;
  const text = texts.join("\n");
  return text === "" ? undefined : text;
}
