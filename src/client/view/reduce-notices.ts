// Notices: those that are news of something else (a request, a tool, a turn) go there; of the others those that a
// person needs become entries.
import type { WireFrame } from "../frames.ts";
import { type Draft, dataOf, type Moment, push, replace } from "./draft.ts";
import { headOf } from "./limits.ts";
import { noticeWords } from "./notice-words.ts";
import { reduceRequest } from "./reduce-requests.ts";
import { addOutput, changeInput, endTool, setAgent, setChanges } from "./reduce-tools.ts";
import { beginTurn, reduceDelivered } from "./reduce-turns.ts";
import { outputText } from "./tool-output.ts";
import type { NoticeEntry } from "./types.ts";
import { jsonText, numberOf, stringOf, wordOf } from "./values.ts";

type Reduce = (draft: Draft, frame: WireFrame, moment: Moment) => void;

const NEWS: ReadonlyMap<string, Reduce> = new Map<string, Reduce>([
  ["task_started", beginTurn],
  ["input_delivered", reduceDelivered],
  ["codex_output_delta", outputPiece],
  ["acp_output_delta", outputPiece],
  ["acp_tool_progress", toolProgress],
  ["acp_tool_input", (draft, frame) => ofTool(frame, (id, { input }) => changeInput(draft, id, input))],
  [
    "codex_patch_updated",
    (draft, frame) => ofTool(frame, (id, { changes }) => setChanges(draft, id, changes)),
  ],
  ["codex_late_result", (draft, frame, moment) => endTool(draft, dataOf(frame), moment)],
  ["acp_late_result", lateResult],
  ["context_usage", contextUsage],
]);

export function reduceNotice(draft: Draft, frame: WireFrame, moment: Moment): void {
  const category = wordOf(frame["category"]) ?? "notice";
  const news = NEWS.get(category);
  news?.(draft, frame, moment);
  if (news !== undefined || reduceRequest(draft, frame, moment)) return;
  if (category === "subagent_started" && moment.parent !== undefined)
    setAgent(draft, moment.parent, wordOf(dataOf(frame)["agent"]));
  const level = levelOf(frame["level"]);
  const text = noticeWords(category, frame) ?? (level === "info" ? undefined : jsonText(frame["data"]));
  // What only informs and says nothing to people is for programs.
  if (text !== undefined && !repeats(draft, moment, { level, category, text }))
    tell(draft, moment, { level, category, text });
}

/** Of these the newest is enough: how often a model was asked again. */
const COUNTING: ReadonlySet<string> = new Set(["system_api_retry", "codex_retry"]);

/** What was said just before is not said again; what only counts on takes its place. */
function repeats(
  draft: Draft,
  { parent }: Moment,
  { level, category, text }: Pick<NoticeEntry, "level" | "category" | "text">,
): boolean {
  const last = draft.entries.at(-1);
  if (last?.kind !== "notice" || last.category !== category || last.level !== level) return false;
  if (last.parent !== parent || !(COUNTING.has(category) || last.text === text)) return false;
  const shown = headOf(text, draft.limits.maxText);
  if (last.text !== shown)
    replace(draft, draft.view.dropped + draft.entries.length - 1, { ...last, text: shown });
  return true;
}

export function tell(
  draft: Draft,
  moment: Moment,
  { level, category, text }: Pick<NoticeEntry, "level" | "category" | "text">,
): void {
  const { maxText } = draft.limits;
  push(draft, moment, {
    kind: "notice",
    level,
    category: headOf(category, maxText),
    text: headOf(text, maxText),
  });
}

function levelOf(level: unknown): NoticeEntry["level"] {
  return level === "warn" || level === "error" ? level : "info";
}

function ofTool(frame: WireFrame, then: (id: string, data: Record<string, unknown>) => void): void {
  const data = dataOf(frame);
  const id = wordOf(data["tool_use_id"]) ?? wordOf(data["item_id"]);
  if (id !== undefined) then(id, data);
}

function outputPiece(draft: Draft, frame: WireFrame): void {
  ofTool(frame, (id, { text }) => addOutput(draft, id, stringOf(text) ?? ""));
}

function toolProgress(draft: Draft, frame: WireFrame): void {
  ofTool(frame, (id, { content }) => addOutput(draft, id, outputText(content), true));
}

function lateResult(draft: Draft, frame: WireFrame, moment: Moment): void {
  const data = dataOf(frame);
  endTool(draft, { ...data, is_error: data["status"] === "failed" }, moment);
}

function contextUsage(draft: Draft, frame: WireFrame): void {
  const context_window = numberOf(dataOf(frame)["context_window"]);
  if (context_window === undefined || context_window === draft.view.agent.context_window) return;
  draft.view.agent = { ...draft.view.agent, context_window };
  draft.hasChanged = true;
}
