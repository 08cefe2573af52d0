// The JSONL log writes a session's frames and its row into two files. A daemon that is killed between the two
// leaves an old row beside newer frames; whoever reads on must not notice.
import { randomUUID } from "node:crypto";
import { copyFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import type { RawClient } from "../support/raw-client.ts";
import { follow, historyFaults, Tape } from "./tape.ts";

let daemon: TestDaemon;
afterEach(() => daemon.close());

test("the row of a turn that has just begun was not written: the turn still gets its result", async () => {
  const place = await openPlace();
  await place.client.turn(place.session_id, "#say first");
  place.keepRow();
  place.send("#slow 100 20");
  await place.client.next("agent.delta");
  await place.killAndRestoreRow();
  expect(await historyAfterRestart(place)).toEqual([]);
});

test("the row of a turn that has just ended was not written: the turn gets no second result", async () => {
  const place = await openPlace();
  place.send("#slow 5 20");
  await place.client.next("agent.delta");
  place.keepRow();
  await place.client.next("agent.result");
  await place.killAndRestoreRow();
  expect(await historyAfterRestart(place)).toEqual([]);
});

interface Place {
  session_id: string;
  client: RawClient;
  env: Record<string, string>;
  send(content: string): void;
  /** Remembers the row as it is now. */
  keepRow(): void;
  /** Kills the daemon and puts that row back: as if the later ones had not been written. */
  killAndRestoreRow(): Promise<void>;
}

async function openPlace(): Promise<Place> {
  const home = mkdtempSync(join(tmpdir(), "blemees-torn-"));
  const env = { BLEMEESD_EVENT_LOG_DIR: join(home, "log"), BLEMEESD_LOG_LEVEL: "error" };
  daemon = await startDaemon({ home, env });
  const client = await daemon.connect();
  const session_id = randomUUID();
  await client.open(session_id, { include_partial_messages: true });
  const row = join(home, "log", `${session_id}.usage.json`);
  const kept = join(home, "kept.json");
  return {
    session_id,
    client,
    env,
    send: (content) => client.send({ type: "agent.user", session_id, message: { role: "user", content } }),
    keepRow: () => copyFileSync(row, kept),
    async killAndRestoreRow() {
      await daemon.kill("SIGKILL");
      copyFileSync(kept, row);
    },
  };
}

/** What is wrong with the whole history that the next daemon shows. */
async function historyAfterRestart({ session_id, env }: Place): Promise<string[]> {
  daemon = await startDaemon({ home: daemon.home, env });
  const client = await daemon.connect();
  const tape = new Tape();
  tape.record(client);
  const replayed = new Promise<void>((resolve) => {
    let last = Number.POSITIVE_INFINITY;
    follow(client, (frame) => {
      if (frame.type === "blemeesd.opened") last = Number(frame["last_seq"]);
      if (frame["seq"] === last) resolve();
    });
  });
  await client.open(session_id, {}, { resume: true, last_seen_seq: 0 });
  await replayed;
  return [...tape.faults, ...historyFaults(session_id, tape.sessions.get(session_id) ?? new Map())];
}
