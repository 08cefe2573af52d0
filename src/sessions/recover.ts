// After a crash of the daemon: turns that never got their result get it now, so that whoever reads the history
// sees each of them end (DESIGN invariant 4).
import type { Log } from "../base/log.ts";
import type { Store } from "../store/types.ts";
import type { Publisher } from "./publish.ts";
import { Stream } from "./stream.ts";
import { syntheticResult } from "./turn.ts";

const MESSAGE = "the daemon stopped during this turn; send again to continue";

/** A result and what may stand behind it in the same write. */
const TAIL_FRAMES = 256;
const TAIL_BYTES = 1024 * 1024;

export async function recoverTurns(store: Store, publisher: Publisher, log: Log): Promise<number> {
  const cut = (await store.rows()).filter((row) => row.turn !== undefined);
  const streams = await Promise.all(
    cut.map(async (row) => {
      const stream = new Stream({ row, ringSize: 1, store, pressure: () => undefined });
      const turn_id = row.turn?.turn_id ?? "";
      delete row.turn;
      // A driver without transactions may have lost the row's last change but not the result itself.
      if (await hasResult(stream, turn_id)) publisher.saveRow(stream);
      else publishCrash(stream, turn_id, publisher);
      return stream;
    }),
  );
  await Promise.all(streams.map((stream) => stream.settled()));
  if (cut.length > 0) log.warn("session.turns_recovered", { count: cut.length });
  return cut.length;
}

function publishCrash(stream: Stream, turn_id: string, publisher: Publisher): void {
  const { backend } = stream.row;
  const error = { code: "backend_crashed", message: MESSAGE };
  publisher.publish(stream, { type: "blemeesd.error", backend, ...error });
  publisher.publish(stream, { ...syntheticResult(backend, "error", error), turn_id }, true);
  publisher.saveRow(stream);
}

async function hasResult(stream: Stream, turn_id: string): Promise<boolean> {
  let after_seq = Math.max(0, stream.last_seq - TAIL_FRAMES);
  while (after_seq < stream.last_seq) {
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
