// After a crash of the daemon: turns that never got their result get it now, and requests that nobody can answer any
// more are told, so that whoever reads the history sees each of them end (DESIGN invariants 4 and 6).
import type { Log } from "../base/log.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { Store } from "../store/types.ts";
import type { Publisher } from "./publish.ts";
import { lost, noticeOf } from "./request-words.ts";
import { Stream } from "./stream.ts";
import { syntheticResult } from "./turn.ts";

const TURN_CUT = "the daemon stopped during this turn; send again to continue";

/** A result and what may stand behind it in the same write. */
const TAIL_FRAMES = 256;
const TAIL_BYTES = 1024 * 1024;

export async function recoverSessions(store: Store, publisher: Publisher, log: Log): Promise<void> {
  const [rows, open] = await Promise.all([store.rows(), store.requests({ open: true })]);
  const requests = new Map<string, RequestRow[]>();
  for (const request of open) {
    requests.set(request.session_id, [...(requests.get(request.session_id) ?? []), request]);
  }
  const known = new Set(rows.map((row) => row.session_id));
  const rowless = [...requests.keys()].filter((session_id) => !known.has(session_id));
  const found = await Promise.all(rowless.map((session_id) => store.loadRow(session_id)));
  const all = [...rows, ...found.filter((row) => row !== undefined)];
  const cut = all.filter((row) => row.turn !== undefined || requests.has(row.session_id));
  await Promise.all(
    cut.map((row) => recoverOne(row, requests.get(row.session_id) ?? [], { store, publisher })),
  );
  const turns = cut.filter((row) => row.turn !== undefined).length;
  if (turns > 0) log.warn("session.turns_recovered", { count: turns });
  if (open.length > 0) log.warn("request.recovered", { count: open.length });
}

/** The row as it is then. One stream for both: a session's frames have one writer. */
export async function recoverOne(
  row: SessionRow,
  requests: readonly RequestRow[],
  { store, publisher }: { store: Store; publisher: Publisher },
): Promise<SessionRow> {
  const { turn, ...rest } = row;
  const stream = new Stream({ row: rest, ringSize: 1, store, pressure: () => undefined });
  // What the disk does not take now is told when the session is next opened.
  for (const request of requests) {
    const next = lost(request);
    void publisher.publishRequest(stream, next, noticeOf(next));
  }
  if (turn !== undefined) {
    // A driver without transactions may have lost the row's last change but not the result itself.
    if (await hasResult(stream, turn.turn_id)) publisher.saveRow(stream);
    else publishCrash(stream, turn.turn_id, publisher);
  }
  await stream.settled();
  return rest;
}

function publishCrash(stream: Stream, turn_id: string, publisher: Publisher): void {
  const { backend } = stream.row;
  const error = { code: "backend_crashed", message: TURN_CUT };
  publisher.publish(stream, { type: "blemeesd.error", backend, ...error });
  publisher.publish(stream, { ...syntheticResult(backend, "error", error), turn_id }, true);
  publisher.saveRow(stream);
}

async function hasResult(stream: Stream, turn_id: string): Promise<boolean> {
  const { last_seq } = stream;
  let after_seq = Math.max(0, last_seq - TAIL_FRAMES);
  while (after_seq < last_seq) {
    const chunk = await stream.after(after_seq, TAIL_BYTES);
    if (chunk === undefined) return false;
    for (const line of Buffer.from(chunk.bytes).toString("utf8").split("\n")) {
      if (!line.includes(turn_id) || !line.includes('"type":"agent.result"')) continue;
      if (JSON.parse(line).turn_id === turn_id) return true;
    }
    after_seq = chunk.last_seq;
  }
  return false;
}
