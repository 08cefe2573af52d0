// The text of a notice: its own, or for some categories made from their data.
import { asNumber, asObject, asObjects, asString, asText } from "../../base/values.ts";
import type { WireFrame } from "../frames.ts";

type Describe = (data: Record<string, unknown>, text: string | undefined) => string | undefined;

const MARKS: ReadonlyMap<unknown, string> = new Map([
  ["completed", "[x]"],
  ["in_progress", "[>]"],
  ["inProgress", "[>]"],
]);

const DESCRIBE: ReadonlyMap<string, Describe> = new Map<string, Describe>([
  ["plan", (data) => planText(data)],
  ["model_retry", retryText],
  ["compacted", (_data, text) => text ?? "the conversation was compacted"],
  ["permission_denied", ({ tool_name, reason }, text) => text ?? joinText(tool_name, reason)],
  ["stop_reason", stopText],
  [
    "input_failed",
    ({ error }, text) => joinText(asObject(error)["message"] ?? "the agent rejected it", text),
  ],
]);

export function describeNotice(category: string, frame: WireFrame): string | undefined {
  const text = asString(frame["text"]);
  const made = DESCRIBE.get(category)?.(asObject(frame["data"]), text);
  return made ?? text;
}

const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;:]*m`, "g");
const TIME = /^\s*\[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?\s+/;

/** A line of an agent's log without color codes and timestamp; entries have their own. */
export function logText(line: string): string {
  return line.replace(COLOURS, "").replace(TIME, "");
}

function planText({ plan, explanation }: Record<string, unknown>): string | undefined {
  const steps = asObjects(plan).map(
    ({ step, status }) => `${MARKS.get(status) ?? "[ ]"} ${asString(step) ?? ""}`,
  );
  const lines = [...(asText(explanation) === undefined ? [] : [String(explanation)]), ...steps];
  return lines.length === 0 ? undefined : lines.join("\n");
}

function retryText(data: Record<string, unknown>, text: string | undefined): string {
  const [attempt, most] = [asNumber(data["attempt"]), asNumber(data["max_attempts"])];
  const count = attempt === undefined ? "" : ` (${attempt}${most === undefined ? "" : ` of ${most}`})`;
  const status = asNumber(data["http_status"]);
  const said = data["details"] ?? text ?? data["native_code"];
  const why = joinText(status === undefined ? undefined : `HTTP ${status}`, said);
  const waitMs = asNumber(data["retry_after_ms"]) ?? 0;
  const when = waitMs < 1000 ? "" : ` in ${Math.round(waitMs / 1000)} s`;
  return `model request failed${why === undefined ? "" : `: ${why}`}; retrying${when}${count}`;
}

function stopText({ stop_reason }: Record<string, unknown>, text: string | undefined): string | undefined {
  return text ?? (stop_reason === "refusal" ? "the model refused to answer" : undefined);
}

function joinText(...parts: readonly unknown[]): string | undefined {
  const said = parts.filter((part) => typeof part === "string" && part !== "");
  return said.length === 0 ? undefined : said.join(": ");
}
