// Recovery after a crash: unfinished turns get their result, and unanswerable requests are closed, so that a reader of
// the history sees each of them end.

import { toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import { defined } from "../base/values.ts";
import type { ResultEvent } from "../protocol/events.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { Losses } from "../store/losses.ts";
import type { Store } from "../store/types.ts";
import type { Effect } from "./core/effects.ts";
import { restore } from "./core/restore.ts";
import type { Rates } from "./core/spending.ts";
import type { SessionHooks } from "./hooks.ts";
import { toLost, toOwedNotice, toRequestNotice } from "./requests/frames.ts";
import { makeRecoveredNotice, type Publisher } from "./stream/publish.ts";
import { Stream } from "./stream/stream.ts";

/** A result, and the frames that may follow it in the same write. */
const TAIL_FRAMES = 256;
const TAIL_BYTES = 1024 * 1024;
/** A power cut loses the newest frames. Losses of sessions that were active earlier are reported when they are opened. */
const RECENT = 100;

export interface RecoverParts {
  store: Store;
  publisher: Publisher;
  /** An unfinished turn was ended: adds further fields to the row before it is stored. */
  turnEnded?: SessionHooks["onTurnEnd"];
  /** What the previous daemon could not store; known once the store is open. */
  losses?: () => Losses | undefined;
  ratesOf?: ((backend: string) => Rates) | undefined;
  /** Sessions whose agents are running and will be adopted: nothing of them was cut. */
  kept?: ReadonlySet<string>;
}

export async function recoverSessions(
  store: Store,
  publisher: Publisher,
  log: Log,
  extras: Pick<RecoverParts, "turnEnded" | "losses" | "kept" | "ratesOf"> = {},
): Promise<void> {
  const parts = { store, publisher, ...extras };
  const [unfinished, recent, open] = await Promise.all([
    store.rows({ unfinished: true }),
    store.rows({ limit: RECENT }),
    store.requests({ open: true }),
  ]);
  const rows = new Map([...unfinished, ...recent].map((row) => [row.session_id, row]));
  const requests = new Map<string, RequestRow[]>();
  for (const request of open) {
    requests.set(request.session_id, [...(requests.get(request.session_id) ?? []), request]);
  }
  const left = extras.losses?.()?.left ?? new Map<string, number>();
  const others = [...requests.keys(), ...left.keys()].filter((session_id) => !rows.has(session_id));
  const found = await Promise.all([...new Set(others)].map((session_id) => store.loadRow(session_id)));
  for (const row of found) if (row !== undefined) rows.set(row.session_id, row);
  const all = [...rows.values()];
  const cut = all.filter((row) => {
    const { session_id, turn, lost_after } = row;
    if (extras.kept?.has(session_id) === true) return lost_after !== undefined || left.has(session_id);
    return turn !== undefined || lost_after !== undefined || requests.has(session_id) || left.has(session_id);
  });
  await Promise.all(
    cut.map((row) =>
      // A session that cannot be recovered must not prevent the start; it is retried when opened.
      recoverOne(...toCut(row, requests.get(row.session_id) ?? [], extras.kept), parts).catch(
        (error: unknown) =>
          log.error("session.recover_failed", { session_id: row.session_id, message: toMessage(error) }),
      ),
    ),
  );
  const isCut = ({ session_id }: { session_id: string }) => extras.kept?.has(session_id) !== true;
  const turns = cut.filter((row) => row.turn !== undefined && isCut(row)).length;
  if (turns > 0) log.warn("session.turns_recovered", { count: turns });
  const orphans = open.filter(isCut).length;
  if (orphans > 0) log.warn("request.recovered", { count: orphans });
  // A deleted session needs no report.
  const gone = [...left.keys()].filter((session_id) => !rows.has(session_id));
  for (const session_id of gone) extras.losses?.()?.clear(session_id);
  const damaged = all.filter((row) => row.lost_after !== undefined).length;
  if (damaged > 0) log.warn("session.history_lost", { count: damaged });
  if (left.size > 0) log.warn("session.losses_recovered", { count: left.size });
}

/** The turn and the requests of an agent that is still running continue. */
function toCut(
  row: SessionRow,
  requests: readonly RequestRow[],
  kept: ReadonlySet<string> | undefined,
): [row: SessionRow, requests: readonly RequestRow[]] {
  if (kept?.has(row.session_id) !== true) return [row, requests];
  const { turn: _running, ...rest } = row;
  return [rest, []];
}

/** The row at that time. One stream for both, because a session's frames have one writer. */
export async function recoverOne(
  row: SessionRow,
  requests: readonly RequestRow[],
  parts: RecoverParts,
): Promise<SessionRow> {
  const { store, publisher } = parts;
  const { turn: _cut, ...rest } = row;
  const stream = new Stream({ row: rest, ringSize: 1, store, pressure: () => undefined });
  const lostAfter = parts.losses?.()?.left.get(row.session_id);
  if (lostAfter !== undefined)
    publisher.publish(stream, makeRecoveredNotice(row.backend, undefined, lostAfter));
  // The store has lost frames that clients saw; the stream reports this before its next frame.
  if (row.lost_after !== undefined) publisher.saveRow(stream);
  // What cannot be stored now is reported when the session is next opened.
  const settled: Promise<unknown>[] = [];
  for (const request of requests) {
    const next = toLost(request);
    settled.push(publisher.publishRequest(stream, next, toRequestNotice(next), toOwedNotice(request))); // mutation: restart-settles-requests
  }
  // Observers see a request once it is stored, and need it before the turn's end: its call never ran.
  await Promise.all(settled);
  if (row.turn !== undefined) {
    // A driver without transactions may have lost the row's last change but kept the result.
    const result = await findResult(stream, row.turn.turn_id);
    const found = defined({ result, rates: parts.ratesOf?.(row.backend) });
    const { state, effects } = restore({ ...rest, turn: row.turn }, { at_ms: Date.now(), ...found });
    Object.assign(rest, state.row);
    for (const effect of effects) perform(effect, stream, parts);
  }
  await stream.settled();
  return rest;
}

/** Dependencies of ending a turn of a previous daemon. */
function perform(effect: Effect, stream: Stream, { publisher, turnEnded }: RecoverParts): void {
  if (effect.kind === "publish") publisher.publish(stream, effect.frame, effect.isSynced === true);
  else if (effect.kind === "save") publisher.saveRow(stream);
  else if (effect.kind === "turn_ended") turnEnded?.(stream.row, effect.result, effect.goesOn);
}

async function findResult(
  stream: Stream,
  turn_id: string,
): Promise<(ResultEvent & { turn_id: string }) | undefined> {
  const { last_seq } = stream;
  let after_seq = Math.max(0, last_seq - TAIL_FRAMES);
  while (after_seq < last_seq) {
    const chunk = await stream.after(after_seq, TAIL_BYTES);
    if (chunk === undefined) return undefined;
    for (const line of Buffer.from(chunk.bytes).toString("utf8").split("\n")) {
      if (!line.includes(turn_id) || !line.includes('"type":"agent.result"')) continue;
      const frame = JSON.parse(line);
      if (frame.turn_id === turn_id) return frame;
    }
    after_seq = chunk.last_seq;
  }
  return undefined;
}
