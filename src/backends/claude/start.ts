// Starts claude for an order: chooses the program, the arguments, and whether to resume.

import { existsSync } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { getClaudeConfigDir } from "../../base/claude-wire/environment.ts";
import { MIN_CLAUDE_VERSION } from "../../base/claude-wire/version.ts";
import { CodedError } from "../../base/coded-error.ts";
import { findProgram } from "../../base/find-program.ts";
import type { FoundRun } from "../../base/runs/adopt.ts";
import { defined } from "../../base/values.ts";
import { replayFrom, replayRun } from "../replay.ts";
import { type RunsHost, toRunOrder } from "../runs-host.ts";
import { SinkGate } from "../sink-gate.ts";
import type { AdoptOrder, BackendSink, Environment, Run, StartOrder } from "../types.ts";
import type { DetectedClaude } from "./detect.ts";
import { buildClaudeEnvironment } from "./environment.ts";
import { buildClaudeArgv, type ClaudeOptions, type Launch } from "./options.ts";
import { getProjectsDir } from "./paths.ts";
import type { Place } from "./requests.ts";
import { ClaudeRun, type ClaudeSnapshot, type KeptRun } from "./run.ts";
import { locateSettings } from "./settings-files.ts";
import { createState } from "./state.ts";
import { toTranscriptPath } from "./transcript-path.ts";

export interface Program {
  bin: string;
  env: Environment;
  maxLineBytes: number;
  detected: DetectedClaude | undefined;
  /** Absent: agents end with the daemon. */
  runs?: RunsHost | undefined;
}

export async function startClaude(program: Program, order: StartOrder, sink: BackendSink): Promise<Run> {
  const command = program.detected?.path ?? (await findProgram(program.bin, program.env));
  if (command === undefined) throw notFoundError(program.bin);
  const options = order.options as ClaudeOptions;
  const speaksControl = program.detected?.speaksControl ?? false;
  if (options.approvals === true && !speaksControl) throw tooOldError(program.detected);
  const env = buildClaudeEnvironment(program.env, order.env, speaksControl);
  const launch = await chooseLaunch(order, { options, env, speaksControl });
  const run = new ClaudeRun({
    state: createState({ ...order, options, projects: getProjectsDir(env) }),
    sink,
    log: order.log,
    maxLineBytes: program.maxLineBytes,
    speaksControl,
    place: options.approvals === true ? await findPlace(options, env) : undefined,
    kept: toKept(program.runs, order),
  });
  const args = buildClaudeArgv(launch, options);
  const place = defined({ cwd: options.cwd, run: program.runs && toRunOrder(program.runs, order.log) });
  await run.start({ command, args, env, ...place });
  return run;
}

/** One process has one session. */
export async function adoptClaude(
  program: Program,
  found: FoundRun,
  [order]: readonly AdoptOrder[],
): Promise<void> {
  if (order === undefined) return;
  const options = order.options as ClaudeOptions;
  const { translator, speaksControl, ...before } = order.snapshot.state as ClaudeSnapshot;
  const env = buildClaudeEnvironment(program.env, order.env, speaksControl);
  const gate = new SinkGate(order.past);
  const run = new ClaudeRun({
    state: translator,
    before,
    sink: gate,
    log: order.log,
    maxLineBytes: program.maxLineBytes,
    speaksControl,
    place: options.approvals === true ? await findPlace(options, env) : undefined,
    kept: toKept(program.runs, order),
  });
  const files = run.adopt(found, replayFrom(found, [order]));
  await replayRun(found, { files, parties: [{ order, run, gate }], isRepeatable });
}

/** A user message is not: claude would take it for another one. */
function isRepeatable(line: string): boolean {
  return !line.startsWith('{"type":"user"');
}

function toKept(
  runs: RunsHost | undefined,
  { session_id, generation, log }: StartOrder,
): KeptRun | undefined {
  if (runs === undefined) return undefined;
  return { version: runs.version, session_id, generation, unrecorded: toRunOrder(runs, log).unavailable };
}

interface Context {
  options: ClaudeOptions;
  env: Environment;
  speaksControl: boolean;
}

async function chooseLaunch(order: StartOrder, context: Context): Promise<Launch> {
  if (!order.resume) return { resume: false, id: order.session_id };
  const id = order.native_session_id ?? order.session_id;
  return { resume: !(context.speaksControl && (await hasNothingToResume(order, id, context))), id };
}

/** Claude refuses to resume a session without a transcript: killed too early, or not persistent. */
async function hasNothingToResume(order: StartOrder, id: string, context: Context): Promise<boolean> {
  if (!order.began_here) return false;
  if (context.options.session_persistence === false) return true;
  const real = await realCwd(context.options);
  return access(toTranscriptPath(getProjectsDir(context.env), real, id)).then(
    () => false,
    () => true,
  );
}

async function findPlace(options: ClaudeOptions, env: Environment): Promise<() => Place> {
  const cwd = await realCwd(options);
  const settings = await locateSettings(env, cwd);
  return () => ({ cwd, configDir: getClaudeConfigDir(env), settings: settings(), exists: existsSync });
}

/** As claude reports it. */
async function realCwd(options: ClaudeOptions): Promise<string> {
  const cwd = options.cwd ?? process.cwd();
  return realpath(cwd).catch(() => cwd);
}

function tooOldError(detected: DetectedClaude | undefined): CodedError {
  const found =
    detected === undefined ? "this program does not report its version" : `this is ${detected.version}`;
  return new CodedError(
    "spawn_failed",
    `approvals require Claude Code ${MIN_CLAUDE_VERSION} or newer; ${found}`,
  );
}

function notFoundError(bin: string): CodedError {
  const where = bin.includes("/") ? `${bin} is not an executable file` : `${bin} not found on PATH`;
  return new CodedError("spawn_failed", `${where}; set --claude or BLEMEESD_CLAUDE`);
}
