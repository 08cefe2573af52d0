// What a notice says to people: its own text, or for a few that have none what is in their data.
import type { WireFrame } from "../frames.ts";
import { numberOf, objectOf, objectsOf, stringOf, wordOf } from "./values.ts";

type Words = (data: Record<string, unknown>, text: string | undefined) => string | undefined;

const MARKS: ReadonlyMap<unknown, string> = new Map([
  ["completed", "[x]"],
  ["in_progress", "[>]"],
  ["inProgress", "[>]"],
]);

const WORDS: ReadonlyMap<string, Words> = new Map<string, Words>([
  ["plan", (data) => planText(data)],
  ["system_api_retry", retryText],
  ["system_compact_boundary", () => "the conversation was compacted"],
  ["codex_item_contextCompaction", () => "the conversation was compacted"],
  ["system_permission_denied", ({ tool_name, message }) => words(tool_name, message)],
  ["system_model_refusal_no_fallback", ({ content }) => wordOf(content) ?? "the model refused to answer"],
  [
    "input_failed",
    ({ error }, text) => words(objectOf(error)["message"] ?? "the agent does not take it", text),
  ],
]);

/** Undefined: nothing. */
export function noticeWords(category: string, frame: WireFrame): string | undefined {
  const text = stringOf(frame["text"]);
  const made = WORDS.get(category)?.(objectOf(frame["data"]), text);
  return made ?? text;
}

const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;:]*m`, "g");
const TIME = /^\s*\[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?\s+/;

/** A line of an agent's log, without its colours and the time: entries have their own. */
export function logText(line: string): string {
  return line.replace(COLOURS, "").replace(TIME, "");
}

function planText({ plan, explanation }: Record<string, unknown>): string | undefined {
  const steps = objectsOf(plan).map(
    ({ step, status }) => `${MARKS.get(status) ?? "[ ]"} ${stringOf(step) ?? ""}`,
  );
  const lines = [...(wordOf(explanation) === undefined ? [] : [String(explanation)]), ...steps];
  return lines.length === 0 ? undefined : lines.join("\n");
}

function retryText(data: Record<string, unknown>, text: string | undefined): string {
  const [attempt, most] = [numberOf(data["attempt"]), numberOf(data["max_retries"])];
  const count = attempt === undefined ? "" : ` (${attempt}${most === undefined ? "" : ` of ${most}`})`;
  const status = numberOf(data["error_status"]);
  const why = words(status === undefined ? undefined : `HTTP ${status}`, data["error"]) ?? text;
  return `the model does not answer${why === undefined ? "" : `: ${why}`}; trying again${count}`;
}

function words(...parts: readonly unknown[]): string | undefined {
  const said = parts.filter((part) => typeof part === "string" && part !== "");
  return said.length === 0 ? undefined : said.join(": ");
}
