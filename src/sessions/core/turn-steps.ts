// A turn from start to its single result. Agent events bypass the reducer (`passes`) unless they change what is known
// about the turn.
import { defined } from "../../base/values.ts";
import type { AgentEvent, ResultEvent, SystemInitEvent } from "../../protocol/events.ts";
import { toNotice } from "../../protocol/notices.ts";
import type { QueuedMessage } from "../../protocol/queue.ts";
import { continueLater } from "./continuing.ts";
import { markDone, wakeAgain } from "./queue.ts";
import { beginWait, planWait, type QuotaFacts } from "./quota.ts";
import { addTurn, completeResult, measureTurn, readSpent } from "./spending.ts";
import {
  type Failure,
  getQueue,
  getTurn,
  isBusy,
  type RunFacts,
  type SessionState,
  type Turn,
} from "./state.ts";
import type { Step } from "./step.ts";
import {
  createTurn,
  makeClosingResults,
  makeStartedNotice,
  makeSyntheticResult,
  noteEvent,
  stampResult,
  toLastResult,
} from "./turn.ts";
import { addUsage } from "./usage.ts";

const OWN_TURN_ENDED = "the agent finished a turn that it started itself; the waiting message is next";

/** True if the event only affects the stream and can skip the reducer; most events do. */
export function passes(state: SessionState, event: AgentEvent): boolean {
  const { type } = event;
  if (isMuted(state) || type === "agent.result" || type === "agent.system_init") return false;
  const turn = getTurn(state);
  if (turn === undefined || type === "agent.notice") return true;
  if (type !== "agent.delta" || !turn.isAnnounced || turn.firstTokenMs === undefined) return false;
  return turn.isThinking === (event.kind === "thinking");
}

/** There is no agent, or it is being killed and its turn already has a result: late output is ignored. */
function isMuted({ phase }: SessionState): boolean {
  return (
    phase.name === "cold" || phase.name === "closed" || (phase.name === "stopping" && phase.how === "now")
  );
}

export function onEvent(step: Step, event: AgentEvent, quota?: QuotaFacts): void {
  if (isMuted(step.state)) return;
  if (event.type === "agent.result") {
    const { turn } = step;
    const isIts = turn?.isGiven === true; // mutation: own-turns-end-nobody-elses
    if (turn === undefined) logExtraResult(step, event);
    else if (isIts) finishTurn(step, event, quota);
    else endOwnTurn(step, event);
    return;
  }
  if (event.type === "agent.system_init") {
    step.publish(event);
    onInit(step, event);
    return;
  }
  const { turn } = step;
  if (turn !== undefined) {
    if (!turn.isAnnounced && event.type !== "agent.notice") announce(step, turn);
    setTurn(step, noteEvent(step.turn ?? turn, event, step.at_ms));
  }
  step.publish(event);
}

function logExtraResult(step: Step, { subtype }: ResultEvent): void {
  step.emit({ kind: "log", level: "warn", event: "session.extra_result", fields: { subtype } });
}

/** The turn's message is still being stored, so this result ends a turn the agent started by itself. */
function endOwnTurn(step: Step, result: ResultEvent): void {
  const { row, rates } = step.state;
  const known = completeResult(result, undefined, row.model, rates);
  step.setRow({
    ...addUsage(row, known, step.at_ms),
    spent: addTurn(readSpent(row, rates), known, 0, rates),
  });
  step.publish(toNotice(row.backend, "own_turn_ended", { text: OWN_TURN_ENDED }));
  step.save();
}

function onInit(step: Step, event: SystemInitEvent): void {
  const { run, row } = step.state;
  if (run !== undefined) step.set({ run: { ...run, hasInit: true } });
  const { model, cwd } = event;
  const { rollout_path, permission_mode, mode = permission_mode } = event.capabilities ?? {};
  step.setRow({
    ...defined({ model }),
    ...(cwd === undefined || row.cwd !== undefined ? {} : { cwd }),
    ...(typeof rollout_path === "string" ? { rollout_path } : {}),
    ...(typeof mode === "string" ? { permission_mode: mode } : {}),
  });
  step.save();
  if (step.turn?.isAnnounced === false) announce(step, step.turn);
}

/** The agent started a turn by itself. */
export function onOwnTurn(step: Step): void {
  const { name } = step.state.phase;
  if (step.turn === undefined && (name === "starting" || name === "ready" || name === "interrupting")) {
    beginTurn(step, "agent");
  }
}

export function beginTurn(
  step: Step,
  origin: Turn["origin"],
  entry?: QueuedMessage,
  remembered?: Pick<Turn, "message" | "after_limit">,
): void {
  const turn = createTurn(step.id, step.at_ms, origin);
  const wake = entry?.kind === "wake" ? entry : undefined;
  const { generation } = step.state.run ?? {};
  const undelivered = entry === undefined || generation === undefined ? undefined : { entry, generation };
  setTurn(step, { ...turn, ...remembered, isGiven: entry === undefined, ...defined({ wake, undelivered }) });
  step.setRow({ last_active_at_ms: step.at_ms });
  step.dropFromRow("archived_at_ms");
  step.save();
}

/** The agent has read the message that started the turn. */
export function onTaken(step: Step, turn_id: string, title: string | undefined): void {
  if (step.state.phase.name === "closed") return;
  if (title !== undefined && step.state.row.title === undefined) step.setRow({ title });
  step.save();
  const { turn } = step;
  if (turn?.turn_id === turn_id && step.state.run?.hasInit === true && !turn.isAnnounced)
    announce(step, turn);
}

/** Not retried: the agent is stopped and the turn ends with this error. */
export function onAuthFailed(step: Step, message: string): void {
  publishError(step, "auth_failed", message);
  if (step.turn === undefined) return;
  setTurn(step, { ...step.turn, verdict: { code: "auth_failed", message } });
  // The result may be next in the data being read; only stop an agent that continues.
  step.emit({ kind: "set_timer", name: "verdict", ms: 0 });
}

/** The message never reached the agent: forget the turn, or fail it if clients already know about it. */
export function forgetTurn(step: Step, { code, message }: Failure): void {
  const isKnown = step.turn?.isAnnounced === true || step.turn?.isInherited === true;
  if (isKnown) cutTurn(step, "error", { code, message }); // mutation: known-turns-end
  dropTurn(step);
  step.save();
}

/** Ends a turn whose agent will not report a result. */
export function cutTurn(
  step: Step,
  subtype: "interrupted" | "error",
  error?: { code: string; message: string },
): void {
  if (step.turn === undefined) return;
  const { backend } = step.state.row;
  for (const closing of makeClosingResults(step.turn, backend)) step.publish(closing);
  finishTurn(step, makeSyntheticResult(backend, subtype, error));
}

/** The only place where a turn ends. */
function finishTurn(step: Step, result: ResultEvent, quota?: QuotaFacts): void {
  const { turn } = step;
  if (turn === undefined) return;
  if (!turn.isAnnounced) announce(step, turn);
  const { rates, row } = step.state;
  const stamped = completeResult(stampResult(turn, result), turn.used, row.model, rates); // mutation: cut-turns-keep-their-use
  if (stamped.subtype === "interrupted" && step.state.run !== undefined) {
    step.emit({ kind: "withdraw_all" }); // mutation: interrupt-settles-requests
  }
  const wait = planWait(step.state, turn, stamped, quota, step.at_ms);
  if (wait !== undefined) beginWait(step, turn, wait);
  dropTurn(step); // mutation: ended-turns-are-gone
  const done = markDone(step.state.row, stamped);
  const wallMs = measureTurn(turn, step.at_ms);
  step.set({
    row: {
      ...done.row,
      spent: addTurn(readSpent(row, rates), stamped, wallMs, rates), // mutation: turns-are-counted
      ...addUsage(done.row, stamped, step.at_ms),
      last_active_at_ms: step.at_ms,
      last_result: toLastResult(stamped, step.at_ms, turn.lastText),
    },
  });
  for (const input of done.records) step.emit({ kind: "input_changed", input });
  if (turn.verdict?.subtype === "max_budget") continueLater(step, turn.turn_id); // mutation: a-cut-turn-continues
  const goesOn = getQueue(step.state.row).length > 0 || isBusy(step.state);
  step.set({ unfinished: goesOn ? stamped : undefined }); // mutation: the-end-is-reported
  step.emit({ kind: "turn_ended", result: stamped, goesOn });
  step.emit({ kind: "publish", frame: stamped, isSynced: true }); // mutation: turn-has-its-result
  step.write({ for: "result" });
}

/** Its turn was cut by the daemon's death: it is delivered again. */
export function wakeOnceMore(step: Step, wake: QueuedMessage): void {
  const { row } = step.state;
  if (row.stopped_at_ms === undefined) step.set({ row: wakeAgain(row, wake, step.at_ms) });
}

export function publishError(step: Step, code: string, message: string): void {
  step.emit({ kind: "log", level: "info", event: "error.emitted", fields: { code } });
  step.publish({ type: "blemeesd.error", backend: step.state.row.backend, code, message });
}

function announce(step: Step, turn: Turn): void {
  setTurn(step, { ...turn, isAnnounced: true });
  step.publish(makeStartedNotice(turn, step.state.row.backend));
  step.save(); // with the notice: an adopted turn is announced once
}

export function setTurn(step: Step, turn: Turn): void {
  const { phase } = step.state;
  if (getTurn(step.state) === turn) return;
  step.set({ phase: phase.name === "interrupting" ? { ...phase, turn } : { name: "turn", turn } });
}

function dropTurn(step: Step): void {
  const { phase, run } = step.state;
  if (step.turn === undefined) return;
  if (phase.name === "interrupting") {
    const { turn: _ended, ...rest } = phase;
    step.set({ phase: rest });
  } else step.set({ phase: getRestPhase(run) });
}

/** The phase of a session without a turn. */
export function getRestPhase(run: RunFacts | undefined): SessionState["phase"] {
  if (run === undefined) return { name: "cold" };
  return { name: run.isUp ? "ready" : "starting" };
}
