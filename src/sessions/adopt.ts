// Continues with the agents that outlived an earlier daemon: their sessions keep their turns, requests and queues. An
// agent that cannot be adopted is ended and logged with the reason, and its sessions are recovered as after a crash.

import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { AdoptOrder, Backend, BackendSink, Run } from "../backends/types.ts";
import { waitAtMost } from "../base/child.ts";
import { toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import { readMonotonicMs } from "../base/monotonic.ts";
import { endRun, type FoundRun, HAS_ENDED } from "../base/runs/adopt.ts";
import type { RecordedCall } from "../base/runs/record.ts";
import type { Snapshot } from "../base/runs/snapshots.ts";
import { defined } from "../base/values.ts";
import type { Observer } from "../observe/types.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { SessionRunMark, Store } from "../store/types.ts";
import type { Extras } from "./agent/extras.ts";
import { Past } from "./agent/past.ts";
import { startOrder } from "./agent/start-order.ts";
import type { AdoptedRun } from "./core/inputs.ts";
import { toWaiting } from "./core/refusals.ts";
import type { OpenRequest } from "./core/state.ts";
import { NO_KIN } from "./family/relatives.ts";
import { findMark, type KeptRuns } from "./kept-runs.ts";
import { type RecoverParts, recoverOne } from "./recover.ts";
import type { Ledger } from "./requests/ledger.ts";
import type { Session } from "./session.ts";
import type { SessionTable } from "./table.ts";

export interface AdoptParts {
  backends: readonly Backend[];
  store: Store;
  table: SessionTable;
  ledger: Ledger;
  publisher: RecoverParts["publisher"];
  log: Log;
  observer: Pick<Observer, "recall">;
  /** Environment of the agents. */
  env: Record<string, string>;
  extras?: Extras | undefined;
  /** For sessions that cannot be adopted after all. */
  recover: Pick<RecoverParts, "turnEnded" | "losses">;
  /** Filled with what was adopted. */
  adopted: { runs: Set<string>; sessions: Set<string> };
}

const MAX_ATTEMPTS = 10;
/** An adoption counts as successful once the daemon has survived it this long. */
const PROVEN_MS = 50;
/** How long a start waits for the end of an agent that ended without a daemon: until then its session is busy. */
const READ_LIMIT_MS = 10_000;

/** Never rejects: a run that cannot be adopted must not prevent the start. */
export async function adoptRuns(runs: KeptRuns, parts: AdoptParts): Promise<void> {
  await Promise.all(runs.found.map((run) => adoptRun(run, runs, parts)));
  await Promise.all(runs.left.map(({ directory }) => endRun(directory)));
}

async function adoptRun(run: FoundRun, { marks, sessions }: KeptRuns, parts: AdoptParts): Promise<void> {
  const { log, adopted, backends } = parts;
  const { directory, description } = run;
  const snapshots = run.snapshots.filter(({ session_id }) => sessions.has(session_id));
  const startedMs = readMonotonicMs();
  const about = { run_id: directory.id, pid: description.pid, backend: description.backend };
  try {
    const backend = backends.find(({ name }) => name === description.backend);
    if (backend?.adopt === undefined) throw new Error(`no backend "${description.backend}" can adopt it`);
    const orders = await Promise.all(
      snapshots.map((snapshot) =>
        makeOrder({ backend, run, snapshot }, findMark(marks, run, snapshot.session_id), parts),
      ),
    );
    noteAttempt(run);
    await backend.adopt(run, orders);
    if (run.hasEnded) {
      await waitAtMost(READ_LIMIT_MS, Promise.all(orders.map(({ ended }) => ended)));
      log.warn("run.read_to_end", { ...about, reason: HAS_ENDED });
      return;
    }
    setTimeout(() => rmSync(getAttemptsPath(run), { force: true }), PROVEN_MS).unref();
    adopted.runs.add(directory.id);
    for (const { session_id } of orders) adopted.sessions.add(session_id);
    log.info("run.adopted", {
      ...about,
      sessions: orders.length,
      took_ms: Math.round(readMonotonicMs() - startedMs),
    });
  } catch (error) {
    log.error("run.adoption_failed", { ...about, message: toMessage(error) });
    await endRun(directory);
    for (const { session_id } of snapshots) await giveUp(session_id, parts);
  }
}

/** Limits the attempts: an agent's output may crash every daemon that reads it. */
function noteAttempt(run: FoundRun): void {
  const path = getAttemptsPath(run);
  const count = existsSync(path) ? readFileSync(path, "utf8").length : 0;
  if (count >= MAX_ATTEMPTS) throw new Error(`${count} daemons exited right after adopting it`);
  appendFileSync(path, ".", { mode: 0o600 });
}

function getAttemptsPath({ directory }: FoundRun): string {
  return join(directory.path, "attempts");
}

interface Kept {
  backend: Backend;
  run: FoundRun;
  snapshot: Snapshot;
}

/** `ended`: its session has stored the end of the agent. */
async function makeOrder(
  { backend, run: found, snapshot }: Kept,
  mark: SessionRunMark | undefined,
  parts: AdoptParts,
): Promise<AdoptOrder & { ended: Promise<void> }> {
  const { store, env, log, observer, extras } = parts;
  const { session_id, generation } = snapshot;
  const [row, requests, [kin = NO_KIN]] = await Promise.all([
    store.loadRow(session_id),
    store.requests({ session_id, open: true }),
    store.kin([session_id]),
  ]);
  if (row === undefined) throw new Error(`session ${session_id} is no longer stored`);
  const past = new Past(snapshot.has_init, (frame) => observer.recall(row, { frame }));
  let session: Session | undefined;
  let noteEnd: (stored: Promise<void>) => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    noteEnd = resolve;
  });
  return {
    ended,
    ...startOrder(row, {
      resume: true,
      options: row.options,
      generation,
      env,
      log: log.with({ session_id }),
      ...extras?.giveKept(row),
    }),
    backend: backend.name,
    snapshot,
    stored_out: mark?.out ?? snapshot.out,
    stored_err: Math.max(mark?.err ?? 0, snapshot.err),
    stored_n: mark?.n ?? snapshot.n,
    past,
    called: (call) => (session === undefined ? past.called(call) : repeat(session, call)),
    live: (run, calls) => {
      const live = parts.table.addAdopted(backend, row, kin);
      session = live;
      const sink = goLive({ session, row, requests, snapshot, past, run, calls, found }, parts);
      const onEnded: BackendSink["ended"] = (why) => {
        sink.ended(why);
        noteEnd(live.stream.settled());
      };
      return { ...sink, ended: onEnded };
    },
  };
}

interface Adoption {
  session: Session;
  row: SessionRow;
  requests: readonly RequestRow[];
  snapshot: Snapshot;
  past: Past;
  run: Run;
  /** Still to be repeated. */
  calls: readonly RecordedCall[];
  found: FoundRun;
}

function goLive(adoption: Adoption, { ledger, observer }: AdoptParts): BackendSink {
  const { session, row, requests, snapshot, past, run, calls, found } = adoption;
  const { generation } = snapshot;
  for (const request of requests) observer.recall(row, { request });
  const returned = calls.flatMap(({ name, args }) => (name === "return_tool" ? [String(args[0])] : []));
  const adopted: AdoptedRun = {
    generation,
    isBusy: run.isBusy === true,
    hasInit: past.hasInit,
    open: requests.filter((request) => request.generation === generation).map(toOpen),
    ...defined({ stored: row.turn, turn: past.turn }),
    steers: [...past.steers, ...calls.flatMap(({ name, args }) => (name === "steer" ? String(args[1]) : []))],
    isGiven: calls.some(({ name }) => name === "send"),
    toRepeat: calls.filter(concernsSession).length,
    ...(found.hasEnded ? { isGone: true } : {}),
  };
  const sink = session.adopt(run, adopted, { calls: past.calls.values(), returned: new Set(returned) });
  for (const { name, args } of calls) if (name === "answer") past.noteAnswer(String(args[0]));
  if (session.asker !== undefined) ledger.adopt(session.asker, requests, past);
  return sink;
}

function toOpen(row: RequestRow): OpenRequest {
  return { ...toWaiting(row), isShown: row.status === "pending" };
}

function repeat(session: Session, call: RecordedCall): void {
  if (concernsSession(call)) session.repeated(call.name);
}

/** Calls that change the session's own state. */
function concernsSession(call: RecordedCall): call is RecordedCall & { name: "send" | "interrupt" } {
  return call.name === "send" || call.name === "interrupt";
}

async function giveUp(
  session_id: string,
  { store, publisher, recover, table, log }: AdoptParts,
): Promise<void> {
  // A live session reports the end of its agent itself.
  if (table.live.has(session_id)) return;
  try {
    const [row, requests] = await Promise.all([
      store.loadRow(session_id),
      store.requests({ session_id, open: true }),
    ]);
    if (row !== undefined) await recoverOne(row, requests, { store, publisher, ...recover });
  } catch (error) {
    log.error("session.recover_failed", { session_id, message: toMessage(error) });
  }
}
