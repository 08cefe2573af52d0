// Starts claude for an order: chooses the program, the arguments, and whether to resume.
import { access, realpath } from "node:fs/promises";
import { RUN_MARKER } from "../../base/child.ts";
import { getClaudeConfigDir, SET_BY_CLAUDE, STATE_EVENTS } from "../../base/claude-wire/environment.ts";
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
import { DISK } from "./disk.ts";
import { type McpFile, writeMcpFile } from "./mcp-file.ts";
import { buildClaudeArgv, type ClaudeOptions, type Launch } from "./options.ts";
import { getProjectsDir } from "./paths.ts";
import { ClaudeRun } from "./run.ts";
import type { ClaudeRunParts, ClaudeSnapshot, KeptRun, Where } from "./run-parts.ts";
import { findGlobalIgnore, locateSettings } from "./settings-files.ts";
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
  if (options.approvals === true && !speaksControl) throw tooOldError(program.detected, "approvals");
  if (order.tools !== undefined && !speaksControl)
    throw tooOldError(program.detected, "the tools of a manager");
  const env = buildClaudeEnvironment(program.env, order.env, speaksControl);
  const [launch, where, mcp] = await Promise.all([
    chooseLaunch(order, { options, env, speaksControl }),
    options.approvals === true ? findWhere(options, env) : undefined,
    writeMcpFile(order.mcp, program.env),
  ]);
  const run = new ClaudeRun({
    state: createState({ ...order, options, projects: getProjectsDir(env) }),
    sink,
    log: order.log,
    maxLineBytes: program.maxLineBytes,
    speaksControl,
    tools: order.tools,
    ...toPlace(where, env),
    kept: toKept(program.runs, order),
  });
  const place = defined({ cwd: options.cwd, run: program.runs && toRunOrder(program.runs, order.log) });
  try {
    const args = buildClaudeArgv(
      { ...launch, hasTools: order.tools !== undefined },
      addMcpConfig(options, mcp),
    );
    await run.start({ command, args, env, ...place });
  } finally {
    await mcp?.remove();
  }
  return run;
}

function addMcpConfig(options: ClaudeOptions, mcp: McpFile | undefined): ClaudeOptions {
  return mcp === undefined ? options : { ...options, mcp_config: [...(options.mcp_config ?? []), mcp.path] };
}

/** One process has one session. */
export async function adoptClaude(
  program: Program,
  found: FoundRun,
  [order]: readonly AdoptOrder[],
): Promise<void> {
  if (order === undefined) return;
  const options = order.options as ClaudeOptions;
  const { translator, speaksControl, where: kept, ...before } = order.snapshot.state as ClaudeSnapshot;
  const env = buildClaudeEnvironment(program.env, order.env, speaksControl);
  // Finding it runs a program; earlier daemons did not keep it.
  const where = options.approvals === true ? (kept ?? (await findWhere(options, env))) : undefined;
  const gate = new SinkGate(order.past);
  const run = new ClaudeRun({
    state: translator,
    before,
    sink: gate,
    log: order.log,
    maxLineBytes: program.maxLineBytes,
    speaksControl,
    tools: order.tools,
    ...toPlace(where, env),
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

async function findWhere(options: ClaudeOptions, env: Environment): Promise<Where> {
  const [cwd, gitIgnore] = await Promise.all([realCwd(options), findGlobalIgnore(env)]);
  return { cwd, gitIgnore };
}

function toPlace(where: Where | undefined, env: Environment): Pick<ClaudeRunParts, "where" | "place"> {
  if (where === undefined) return { where, place: undefined };
  const { cwd, gitIgnore } = where;
  const settings = locateSettings(env, cwd, gitIgnore);
  return {
    where,
    place: () => ({ cwd, configDir: getClaudeConfigDir(env), settings: settings(), disk: DISK }),
  };
}

/** As claude reports it. */
async function realCwd(options: ClaudeOptions): Promise<string> {
  const cwd = options.cwd ?? process.cwd();
  return realpath(cwd).catch(() => cwd);
}

function tooOldError(detected: DetectedClaude | undefined, what: string): CodedError {
  const found =
    detected === undefined ? "this program does not report its version" : `this is ${detected.version}`;
  return new CodedError(
    "spawn_failed",
    `${what} require Claude Code ${MIN_CLAUDE_VERSION} or newer; ${found}`,
  );
}

function notFoundError(bin: string): CodedError {
  const where = bin.includes("/") ? `${bin} is not an executable file` : `${bin} not found on PATH`;
  return new CodedError("spawn_failed", `${where}; set --claude or BLEMEESD_CLAUDE`);
}

const REMOVED: ReadonlySet<string> = new Set([...SET_BY_CLAUDE, RUN_MARKER]);

/** The daemon's, without the variables of a claude that the daemon was started from. */
function buildClaudeEnvironment(
  daemon: Environment,
  order: Environment,
  speaksControl: boolean,
): Record<string, string | undefined> {
  const kept = Object.entries(daemon).filter(([name]) => !REMOVED.has(name));
  return { ...Object.fromEntries(kept), ...(speaksControl ? STATE_EVENTS : {}), ...order };
}
