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
  ["model_retry", retryText],
  ["compacted", (_data, text) => text ?? "the conversation was compacted"],
  ["permission_denied", ({ tool_name, reason }, text) => text ?? words(tool_name, reason)],
  ["stop_reason", stopText],
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
  const [attempt, most] = [numberOf(data["attempt"]), numberOf(data["max_attempts"])];
  const count = attempt === undefined ? "" : ` (${attempt}${most === undefined ? "" : ` of ${most}`})`;
  const status = numberOf(data["http_status"]);
  const said = data["details"] ?? text ?? data["native_code"];
  const why = words(status === undefined ? undefined : `HTTP ${status}`, said);
  const waitMs = numberOf(data["retry_after_ms"]) ?? 0;
  const when = waitMs < 1000 ? "" : ` in ${Math.round(waitMs / 1000)} s`;
  return `the model does not answer${why === undefined ? "" : `: ${why}`}; trying again${when}${count}`;
}

function stopText({ stop_reason }: Record<string, unknown>, text: string | undefined): string | undefined {
  return text ?? (stop_reason === "refusal" ? "the model refused to answer" : undefined);
}

function words(...parts: readonly unknown[]): string | undefined {
  const said = parts.filter((part) => typeof part === "string" && part !== "");
  return said.length === 0 ? undefined : said.join(": ");
}
