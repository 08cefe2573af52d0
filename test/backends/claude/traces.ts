// Recorded traffic (test/fixtures/claude/*.native.jsonl), and what the translator makes of it.
import { join } from "node:path";
import type { ClaudeOptions } from "../../../src/backends/claude/options.ts";
import { type ClaudeReport, type ClaudeState, createState } from "../../../src/backends/claude/state.ts";
import { translate } from "../../../src/backends/claude/translate.ts";
import { flushHeld, noteSent } from "../../../src/backends/claude/turns.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { readRecordings } from "../recorded.ts";

export const FIXTURES = join(import.meta.dirname, "../../fixtures/claude");

export interface Trace {
  name: string;
  args: string[];
  steps: Step[];
}
/** `out`: a user message was written; `in`: claude printed this. */
type Step = { dir: "in" | "out"; msg: JsonObject };

export function readTraces(): Trace[] {
  return readRecordings(FIXTURES).map(({ name, lines }) => {
    const records = lines as Array<Step & { args?: string[] }>;
    const args = records.find((record) => record.args !== undefined)?.args ?? [];
    return { name, args, steps: records.filter((record) => "msg" in record) };
  });
}

export function stateFor(trace: Trace, options: ClaudeOptions = {}): ClaudeState {
  const at = Math.max(trace.args.indexOf("--session-id"), trace.args.indexOf("--resume"));
  const echo = trace.args.includes("--replay-user-messages") ? { user_echo: true } : {};
  const projects = "/home/user/.claude/projects";
  return createState({
    session_id: trace.args[at + 1] ?? "none",
    options: { ...echo, ...options },
    projects,
  });
}

export function replay(trace: Trace, state: ClaudeState): ClaudeReport[] {
  const reports = trace.steps.flatMap((step) => {
    if (step.dir === "in") return translate(state, step.msg);
    noteSent(state);
    return [];
  });
  return [...reports, ...flushHeld(state)];
}

/** As written in *.agent.jsonl: the event itself, or the signal between events. */
export function toLine(report: ClaudeReport): JsonObject {
  if (report.kind === "event") return report.event;
  const { kind: signal, ...rest } = report;
  return { signal, ...rest };
}
