// Notices: updates of a request, tool or turn are applied there; others become entries if the user needs them.
import { asNumber, asObjects, asString, asText } from "../../base/values.ts";
import { convertNotice } from "../../protocol/notice-history.ts";
import type { WireFrame } from "../frames.ts";
import { type Draft, type Moment, push, readData, replace } from "./draft.ts";
import { truncate } from "./limits.ts";
import { describeNotice } from "./notice-text.ts";
import { reduceRequest } from "./reduce-requests.ts";
import { addOutput, changeInput, endTool, setAgent, setChanges } from "./reduce-tools.ts";
import { beginTurn, forgetTurns, reduceDelivered } from "./reduce-turns.ts";
import { formatOutput } from "./tool-output.ts";
import type { NoticeEntry, PlanStep } from "./types.ts";
import { formatJson } from "./values.ts";

const MAX_STEPS = 100;
const MAX_STEP_CHARS = 500;

type Reduce = (draft: Draft, frame: WireFrame, moment: Moment) => void;

const UPDATES: ReadonlyMap<string, Reduce> = new Map<string, Reduce>([
  ["task_started", beginTurn],
  ["input_delivered", reduceDelivered],
  ["tool_output", outputPiece],
  ["tool_progress", toolProgress],
  ["tool_input", toolInput],
  ["late_result", (draft, frame, moment) => endTool(draft, readData(frame), moment)],
  ["context_usage", contextUsage],
]);

export function reduceNotice(draft: Draft, notice: WireFrame, moment: Moment): void {
  const frame = convertNotice(notice);
  const category = asText(frame["category"]) ?? "notice";
  const update = UPDATES.get(category);
  update?.(draft, frame, moment);
  if (update !== undefined || reduceRequest(draft, frame, moment)) return;
  if (category === "subagent_started") nameAgent(draft, frame, moment);
  if (category === "conversation_rewound") forgetTurns(draft, frame);
  if (category === "plan" && moment.parent === undefined) setPlan(draft, frame);
  const level = toLevel(frame["level"]);
  const text = describeNotice(category, frame) ?? (level === "info" ? undefined : formatJson(frame["data"]));
  // Info notices without text are for programs.
  if (text !== undefined && !isRepeated(draft, moment, { level, category, text }))
    addNotice(draft, moment, { level, category, text });
}

/** Only the newest of these is shown: retry counts. */
const COUNTING: ReadonlySet<string> = new Set(["model_retry"]);

/** Whether the notice repeats the last entry; a counting one replaces it. */
function isRepeated(
  draft: Draft,
  { parent }: Moment,
  { level, category, text }: Pick<NoticeEntry, "level" | "category" | "text">,
): boolean {
  const last = draft.entries.at(-1);
  if (last?.kind !== "notice" || last.category !== category || last.level !== level) return false;
  if (last.parent !== parent || !(COUNTING.has(category) || last.text === text)) return false;
  const shown = truncate(text, draft.limits.maxText);
  if (last.text !== shown)
    replace(draft, draft.view.dropped + draft.entries.length - 1, { ...last, text: shown });
  return true;
}

export function addNotice(
  draft: Draft,
  moment: Moment,
  { level, category, text }: Pick<NoticeEntry, "level" | "category" | "text">,
): void {
  const { maxText } = draft.limits;
  push(draft, moment, {
    kind: "notice",
    level,
    category: truncate(category, maxText),
    text: truncate(text, maxText),
  });
}

function toLevel(level: unknown): NoticeEntry["level"] {
  return level === "warn" || level === "error" ? level : "info";
}

function withTool(frame: WireFrame, then: (id: string, data: Record<string, unknown>) => void): void {
  const data = readData(frame);
  const id = asText(data["tool_use_id"]);
  if (id !== undefined) then(id, data);
}

function outputPiece(draft: Draft, frame: WireFrame): void {
  withTool(frame, (id, { text }) => addOutput(draft, id, asString(text) ?? ""));
}

function toolProgress(draft: Draft, frame: WireFrame): void {
  withTool(frame, (id, { content }) => addOutput(draft, id, formatOutput(content), true));
}

function toolInput(draft: Draft, frame: WireFrame): void {
  withTool(frame, (id, { input, changes }) => {
    changeInput(draft, id, input);
    if (changes !== undefined) setChanges(draft, id, changes);
  });
}

function nameAgent(draft: Draft, frame: WireFrame, { parent }: Moment): void {
  const { tool_use_id, agent } = readData(frame);
  const call = asText(tool_use_id) ?? parent;
  if (call !== undefined) setAgent(draft, call, asText(agent));
}

const STATUSES: ReadonlyMap<unknown, PlanStep["status"]> = new Map([
  ["completed", "completed"],
  ["in_progress", "in_progress"],
  ["inProgress", "in_progress"],
]);

/** Bounded, because it stays on the screen. */
function setPlan(draft: Draft, frame: WireFrame): void {
  const steps = asObjects(readData(frame)["plan"]).slice(0, MAX_STEPS);
  draft.view.plan = steps.map(({ step, status }) => ({
    text: truncate(asString(step) ?? "", MAX_STEP_CHARS),
    status: STATUSES.get(status) ?? "pending",
  }));
  draft.hasChanged = true;
}

function contextUsage(draft: Draft, frame: WireFrame): void {
  const context_window = asNumber(readData(frame)["context_window"]);
  if (context_window === undefined || context_window === draft.view.agent.context_window) return;
  draft.view.agent = { ...draft.view.agent, context_window };
  draft.hasChanged = true;
}
