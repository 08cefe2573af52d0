// Two connections to one session: one drives it, the other watches. The watcher disconnects in the middle of
// the answer, reconnects with the last seq it has seen, and misses nothing.
import { connect } from "blemees/client";

const driver = await connect({ client: "driver/1.0" });
const session = await driver.open({ backend: "demo", options: { pace_ms: 30 } });
const turn = session.turn("tell me something long");
const answered = turn.result();

// The first watcher sees three events, then its connection is cut.
const first = await connect({ client: "watcher/1.0" });
const watch = await first.watch(session.session_id, { last_seen_seq: 0 });
const seen: number[] = [];
for await (const event of watch.events()) {
  if ("seq" in event && event.seq !== undefined) seen.push(event.seq);
  if (seen.length === 3) break;
}
await first.close();
console.log(`cut after event ${seen.at(-1)}`);

// The second one asks for everything after that: first from the log, then live.
const second = await connect({ client: "watcher/1.0" });
const resumed = await second.watch(session.session_id, { last_seen_seq: seen.at(-1) ?? 0 });
for await (const event of resumed.events()) {
  if ("seq" in event && event.seq !== undefined) seen.push(event.seq);
  if (event.type === "agent.result") break;
}

const { seq } = await answered;
const isGapless = seen.every((value, at) => value === at + 1);
console.log(`saw ${seen.length} of ${seq} events, ${isGapless ? "no gap, no duplicate" : "WITH A GAP"}`);

await second.close();
await session.close({ delete: true });
await driver.close();
