// Notices: those that are news of something else (a request, a tool, a turn) go there; of the others those that a
// person needs become entries.
import { currentNotice } from "../../protocol/notice-history.ts";
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
  ["tool_output", outputPiece],
  ["tool_progress", toolProgress],
  ["tool_input", toolInput],
  ["late_result", (draft, frame, moment) => endTool(draft, dataOf(frame), moment)],
  ["context_usage", contextUsage],
]);

export function reduceNotice(draft: Draft, told: WireFrame, moment: Moment): void {
  const frame = currentNotice(told);
  const category = wordOf(frame["category"]) ?? "notice";
  const news = NEWS.get(category);
  news?.(draft, frame, moment);
  if (news !== undefined || reduceRequest(draft, frame, moment)) return;
  if (category === "subagent_started") nameAgent(draft, frame, moment);
  const level = levelOf(frame["level"]);
  const text = noticeWords(category, frame) ?? (level === "info" ? undefined : jsonText(frame["data"]));
  // What only informs and says nothing to people is for programs.
  if (text !== undefined && !repeats(draft, moment, { level, category, text }))
    tell(draft, moment, { level, category, text });
}

/** Of these the newest is enough: how often a model was asked again. */
const COUNTING: ReadonlySet<string> = new Set(["model_retry"]);

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
  const id = wordOf(data["tool_use_id"]);
  if (id !== undefined) then(id, data);
}

function outputPiece(draft: Draft, frame: WireFrame): void {
  ofTool(frame, (id, { text }) => addOutput(draft, id, stringOf(text) ?? ""));
}

function toolProgress(draft: Draft, frame: WireFrame): void {
  ofTool(frame, (id, { content }) => addOutput(draft, id, outputText(content), true));
}

function toolInput(draft: Draft, frame: WireFrame): void {
  ofTool(frame, (id, { input, changes }) => {
    changeInput(draft, id, input);
    if (changes !== undefined) setChanges(draft, id, changes);
  });
}

function nameAgent(draft: Draft, frame: WireFrame, { parent }: Moment): void {
  const { tool_use_id, agent } = dataOf(frame);
  const call = wordOf(tool_use_id) ?? parent;
  if (call !== undefined) setAgent(draft, call, wordOf(agent));
}

function contextUsage(draft: Draft, frame: WireFrame): void {
  const context_window = numberOf(dataOf(frame)["context_window"]);
  if (context_window === undefined || context_window === draft.view.agent.context_window) return;
  draft.view.agent = { ...draft.view.agent, context_window };
  draft.hasChanged = true;
}
