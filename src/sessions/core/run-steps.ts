// The lifecycle of the agent's process: start, interrupt, stop, exit. job-steps.ts decides when.
import type { Ended } from "../../backends/types.ts";
import type { RunEffect } from "./effects.ts";
import type { CoreRow, Failure, InterruptingPhase, RunFacts, Surroundings } from "./state.ts";
import { isBusy, isClosing, isUnattended } from "./state.ts";
import { releaseSteers } from "./steered.ts";
import type { Step } from "./step.ts";
import { TURN_CUT } from "./turn.ts";
import { cutTurn, getRestPhase, publishError, setTurn, wakeOnceMore } from "./turn-steps.ts";

interface StartHow extends Pick<RunEffect & { kind: "start" }, "resume" | "needsRoom"> {
  /** Absent: the stored ones. */
  options?: CoreRow["options"];
}

/** Only valid in phase `cold`. */
export function startRun(step: Step, how: StartHow): void {
  const generation = step.id;
  const { options } = step.state.row;
  const run: RunFacts = { generation, isUp: false, hasInit: false, isBusy: false, isPaused: false };
  step.set({ phase: { name: "starting" }, run });
  step.emit({ kind: "start", generation, options, ...how });
}

export function onStarted(step: Step, generation: string): void {
  const { run, phase } = step.state;
  if (run?.generation !== generation) return;
  step.set({ run: { ...run, isUp: true } });
  if (phase.name === "starting") step.set({ phase: { name: "ready" } });
  balance(step);
}

/** The job that was waiting for it fails in job-steps.ts. */
export function onStartFailed(step: Step, generation: string, failure: Failure): void {
  if (step.state.run?.generation !== generation) return;
  loseRun(step, "the agent did not start");
  cutTurn(step, "error", { code: failure.code, message: failure.message });
  if (step.state.phase.name === "starting") step.set({ phase: { name: "cold" } });
}

/** Stops the agent; a running turn gets its result. `why`: nobody asked for that. */
export function stopRun(step: Step, how: "finish" | "now", why?: Failure): void {
  const { run, phase } = step.state;
  if (run !== undefined) endRun(step, run, how, why);
  // The interrupt already killed it; there is nothing left to wait for.
  else if (phase.name === "interrupting") step.set({ phase: { name: "cold" } });
  if (phase.name === "interrupting") for (const job_id of phase.waiters) step.reply(job_id);
}

function endRun(step: Step, { generation }: RunFacts, how: "finish" | "now", why?: Failure): void {
  if (how === "now") {
    step.emit({ kind: "orphan", generation, message: "the agent was ended" });
    cutTurn(step, "interrupted", step.turn?.isInterrupted === true ? undefined : why);
    step.set({ requests: [] });
  }
  step.set({ phase: { name: "stopping", how } });
  step.emit({ kind: "stop", generation, how });
}

/** A client that reconnects during a graceful stop should not wait for it. */
export function hurryStop(step: Step): void {
  const { phase, run } = step.state;
  if (phase.name === "stopping" && phase.how === "finish" && run !== undefined) stopRun(step, "now");
}

export function onStopped(step: Step, generation: string): void {
  const { phase, run } = step.state;
  if (phase.name !== "stopping" || (run !== undefined && run.generation !== generation)) return;
  if (run !== undefined) loseRun(step, "the agent was ended");
  step.set({ phase: { name: "cold" } });
}

/** The process has exited, requested or not. */
export function onEnded(step: Step, generation: string, why: Ended): void {
  const { run } = step.state;
  if (run?.generation !== generation) return;
  const { turn } = step;
  loseRun(step, `the agent has ended (${why.message})`);
  if (why.expected || turn?.isInterrupted === true) cutTurn(step, "interrupted");
  else if (turn !== undefined || (why.code !== 0 && !run.isGone)) {
    if (run.isGone && turn?.wake !== undefined) wakeOnceMore(step, turn.wake);
    const message = run.isGone ? TURN_CUT : why.message;
    if (turn?.verdict === undefined) publishError(step, "backend_crashed", message);
    cutTurn(step, "error", { code: "backend_crashed", message });
  }
  const { name } = step.state.phase;
  if (name === "ready" || name === "starting") step.set({ phase: { name: "cold" } });
}

function loseRun(step: Step, message: string): void {
  const { run } = step.state;
  if (run === undefined) return;
  releaseSteers(step);
  const code = run.isGone === true ? ({ code: "server_restarted" } as const) : {};
  step.emit({ kind: "orphan", generation: run.generation, message, ...code });
  const calmed = run.isBusy ? { calmed_at_ms: step.at_ms } : {};
  step.set({ run: undefined, requests: [], ...calmed }); // mutation: dead-agents-ask-nothing
}

export function onBusy(step: Step, isBusyNow: boolean): void {
  const { run } = step.state;
  if (run === undefined || run.isBusy === isBusyNow) return;
  step.set({ run: { ...run, isBusy: isBusyNow }, ...(isBusyNow ? {} : { calmed_at_ms: step.at_ms }) });
}

/** Backpressure: a full owner outbox or a slow log pauses the agent; a slow watcher never does. */
export function onAround(step: Step, around: Surroundings): void {
  step.set({ around });
  balance(step);
}

function balance(step: Step): void {
  const { run, around, phase } = step.state;
  if (phase.name === "interrupting") return; // it could not respond to the interrupt
  if (run?.isUp === true && run.isPaused !== around.isFull) pause(step, run, around.isFull);
}

function pause(step: Step, run: RunFacts, isPaused: boolean): void {
  step.set({ run: { ...run, isPaused } });
  step.emit({ kind: "pause", isPaused });
}

/** Stops the turn and any background work. Acknowledges at once, and answers `job_id` when it completes. */
export function interruptNow(step: Step, job_id: string, client_id: string | undefined): void {
  const { state, turn } = step;
  const isAllowed = !isClosing(state) && (client_id === undefined || state.owner.client_id === client_id);
  const isTurn = isAllowed && turn !== undefined;
  if (isTurn) setTurn(step, { ...turn, isInterrupted: true });
  step.emit({ kind: "log", level: "info", event: "session.interrupt", fields: { was_idle: !isTurn } });
  step.emit({ kind: "acknowledge", job_id, was_idle: !isTurn });
  // Background sub-agents are stopped too, but produce no result.
  if (isTurn || (isAllowed && isBusy(state))) interruptRun(step, [job_id]);
  else step.reply(job_id);
}

/** One interrupt at a time; later callers wait for the same one. */
export function interruptRun(step: Step, waiters: readonly string[] = []): void {
  const { phase, run } = step.state;
  if (phase.name === "interrupting") {
    step.set({ phase: { ...phase, waiters: [...phase.waiters, ...waiters] } });
    return;
  }
  if (run === undefined || (phase.name !== "turn" && phase.name !== "ready")) {
    for (const job_id of waiters) step.reply(job_id);
    return;
  }
  const turn = phase.name === "turn" ? { turn: phase.turn, target: phase.turn.turn_id } : {};
  askToStop(step, run, { name: "interrupting", waiters, ...turn });
}

function askToStop(step: Step, run: RunFacts, phase: InterruptingPhase): void {
  step.set({ phase });
  if (run.isPaused) pause(step, run, false); // a paused agent could not respond
  step.emit({ kind: "interrupt", generation: run.generation });
}

/** The interrupt has completed, successfully or not. */
export function onInterrupted(step: Step, generation: string): void {
  const { phase } = step.state;
  if (phase.name !== "interrupting") return;
  if (step.state.run !== undefined && step.state.run.generation !== generation) return;
  // Only the turn that was interrupted, not one the agent has started since.
  if (phase.turn !== undefined && phase.turn.turn_id === phase.target) cutTurn(step, "interrupted"); // mutation: interrupt-ends-its-turn
  const { turn } = step;
  const { run } = step.state;
  // The agent may have started another turn that was interrupted as well.
  if (turn?.isInterrupted === true && run !== undefined) {
    askToStop(step, run, { name: "interrupting", waiters: phase.waiters, turn, target: turn.turn_id });
    return;
  }
  step.set({ phase: turn === undefined ? getRestPhase(run) : { name: "turn", turn } });
  balance(step);
  // Someone will continue the conversation, so restart a killed agent right away.
  if (run === undefined && !isUnattended(step.state) && !isClosing(step.state)) {
    step.set({ jobs: [{ kind: "warm", waiters: phase.waiters }, ...step.state.jobs] });
    return;
  }
  for (const job_id of phase.waiters) step.reply(job_id);
}
