// Feeds recorded inputs to the reducer again and compares the effects with the recorded ones.
import { defined } from "../../base/values.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { deriveActivity } from "./activity.ts";
import type { Input } from "./inputs.ts";
import { reduce } from "./reduce.ts";
import { createInitialState } from "./restore.ts";
import { getQueue, getTurn, type SessionState } from "./state.ts";

export interface ReplayedStep {
  line: number;
  input: Input;
  state: SessionState;
  effects: string[];
  /** The recorded effects, if they differ: the recording was made by different code. */
  recorded?: string[];
}

/** Throws with the line number if a line is not part of a recording. */
export function* replay(lines: Iterable<string>): Generator<ReplayedStep> {
  let state: SessionState | undefined;
  let number = 0;
  for (const text of lines) {
    number += 1;
    if (text.trim() === "") continue;
    const line = parse(text, number);
    if (line.row !== undefined) {
      // The session was loaded again: a new life in the same file.
      const { row, left_at_ms } = line;
      state = createInitialState(row, defined({ left_at_ms }));
      continue;
    }
    if (state === undefined || line.input === undefined) throw notRecordingError(number);
    const reduced = reduce(state, line.input);
    state = reduced.state;
    const effects = reduced.effects.map(({ kind }) => kind);
    const recorded = line.effects ?? [];
    const isSame = effects.join() === recorded.join();
    yield { line: number, input: line.input, state, effects, ...(isSame ? {} : { recorded }) };
  }
  if (number === 0 || state === undefined) throw notRecordingError(1);
}

/** Formats a step as one line. */
export function describe({ line, input, state, effects, recorded }: ReplayedStep): string {
  const turn = getTurn(state);
  const facts = [
    turn === undefined ? undefined : `turn ${turn.turn_id.slice(0, 8)}`,
    state.jobs.length === 0
      ? undefined
      : `jobs ${state.jobs.map(({ kind, stage }) => `${kind}${stage === undefined ? "" : `:${stage}`}`).join(",")}`,
    getQueue(state.row).length === 0 ? undefined : `queued ${getQueue(state.row).length}`,
    state.requests.length === 0 ? undefined : `asking ${state.requests.length}`,
    state.held === undefined ? undefined : "held",
  ].filter((fact) => fact !== undefined);
  const what =
    input.kind === "job"
      ? `job ${input.job.kind}`
      : input.kind === "event"
        ? `event ${input.event.type}`
        : input.kind;
  const differs = recorded === undefined ? "" : `  [recorded: ${recorded.join(", ") || "nothing"}]`;
  const where = [state.phase.name, deriveActivity(state), ...facts].join(", ");
  return `${String(line).padStart(5)}  ${what.padEnd(24)} ${where}  -> ${effects.join(", ") || "-"}${differs}`;
}

interface Line {
  row?: SessionRow;
  left_at_ms?: number;
  input?: Input;
  effects?: string[];
}

function parse(text: string, number: number): Line {
  try {
    const line = JSON.parse(text);
    if (typeof line === "object" && line !== null && ("row" in line || "input" in line)) return line;
  } catch {
    // Reported below.
  }
  throw notRecordingError(number);
}

function notRecordingError(number: number): Error {
  return new Error(`line ${number}: not a session recording; record one with BLEMEESD_TRACE_DIR=DIR`);
}
