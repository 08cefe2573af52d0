// After a crash of the daemon: turns that never got their result get it now, so that whoever reads the history
// sees each of them end (DESIGN invariant 4).
import type { Log } from "../base/log.ts";
import type { Store } from "../store/types.ts";
import type { Publisher } from "./publish.ts";
import { Stream } from "./stream.ts";
import { syntheticResult } from "./turn.ts";

const MESSAGE = "the daemon stopped during this turn; send again to continue";

export async function recoverTurns(store: Store, publisher: Publisher, log: Log): Promise<number> {
  const cut = (await store.rows()).filter((row) => row.turn !== undefined);
  const streams = cut.map((row) => {
    const stream = new Stream({ row, ringSize: 1, store, pressure: () => undefined });
    const turn_id = row.turn?.turn_id ?? "";
    delete row.turn;
    const error = { code: "backend_crashed", message: MESSAGE };
    publisher.publish(stream, { type: "blemeesd.error", backend: row.backend, ...error });
    publisher.publish(stream, { ...syntheticResult(row.backend, "error", error), turn_id }, true);
    return stream;
  });
  await Promise.all(streams.map((stream) => stream.settled()));
  if (cut.length > 0) log.warn("session.turns_recovered", { count: cut.length });
  return cut.length;
}
