// A real daemon on a disk that is full or read-only for a while (DESIGN R2): the clients still see everything,
// marked as not stored; the daemon lives; afterwards the gap is told and seq goes on without a hole.
import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import type { Frame, RawClient } from "../support/raw-client.ts";
import { checkOutbound } from "../support/schemas.ts";
import { SmallDisk, whyNoSmallDisk } from "./small-disk.ts";

const missing = whyNoSmallDisk();
type Kind = "sqlite" | "jsonl";
const KINDS: Kind[] = ["sqlite", "jsonl"];
let disk: SmallDisk;
let daemon: TestDaemon;

describe.skipIf(missing !== undefined)(
  `faults of the disk${missing === undefined ? "" : ` (${missing})`}`,
  () => {
    afterEach(async () => {
      await daemon.close();
      disk.close();
    });

    test.each(KINDS)(
      "%s: on a full disk frames come without seq; with space again seq goes on",
      async (kind) => {
        disk = new SmallDisk();
        daemon = await start(kind);
        const client = await daemon.connect();
        const session_id = randomUUID();
        await client.open(session_id, { include_partial_messages: true });
        const before = await playTurn(client, session_id);
        expect(stored(before)).toHaveLength(before.length);

        disk.fill();
        const during = await playTurn(client, session_id);
        // A batch may still have found a last corner; what is not stored says so, and that is the most of it.
        const lost = during.filter((frame) => frame["persisted"] === false);
        expect(stored(during).length + lost.length).toBe(during.length);
        expect(lost.length).toBeGreaterThan(0);
        expect(during.at(-1)).toMatchObject({ type: "agent.result", subtype: "success" });
        expect((await client.request({ type: "blemeesd.ping" })).type).toBe("blemeesd.pong");

        disk.free();
        const after = await playTurn(client, session_id);
        expect(stored(after)).toHaveLength(after.length);
        expect(after[0]).toMatchObject({ category: "event_persist_recovered", data: { lost: lost.length } });
        checkOutbound(client.frames);
        await expectHistory(kind, session_id, [...before, ...during, ...after]);
      },
    );

    test("jsonl: a log directory that is read-only is told and survived", async () => {
      disk = new SmallDisk();
      daemon = await start("jsonl");
      disk.setReadOnly(true);
      const client = await daemon.connect();
      const session_id = randomUUID();
      await client.open(session_id, { include_partial_messages: true });
      const during = await playTurn(client, session_id);
      expect(stored(during)).toEqual([]);
      expect(daemon.log()).toContain("store.append_failed");

      disk.setReadOnly(false);
      const after = await playTurn(client, session_id);
      expect(after[0]).toMatchObject({ seq: 1, category: "event_persist_recovered" });
      checkOutbound(client.frames);
      await expectHistory("jsonl", session_id, after);
    });
  },
);

function start(kind: Kind, home?: string): Promise<TestDaemon> {
  const name = kind === "jsonl" ? "BLEMEESD_EVENT_LOG_DIR" : "BLEMEESD_STATE_DIR";
  const env = { [name]: disk.dir, BLEMEESD_LOG_LEVEL: "error" };
  return startDaemon({ env, ...(home === undefined ? {} : { home }) });
}

/** The frames of the session's stream during one turn. */
async function playTurn(client: RawClient, session_id: string): Promise<Frame[]> {
  const from = client.frames.length;
  await client.turn(session_id, "#slow 20 2");
  return client.frames.slice(from).filter((frame) => frame["session_id"] === session_id);
}

function stored(frames: readonly Frame[]): Frame[] {
  return frames.filter((frame) => frame["seq"] !== undefined);
}

/** Another client, also behind a restart, reads exactly what was stored: seq 1, 2, 3 … */
async function expectHistory(kind: Kind, session_id: string, shown: readonly Frame[]): Promise<void> {
  const wanted = stored(shown);
  expect(wanted.map((frame) => frame["seq"])).toEqual(wanted.map((_, at) => at + 1));
  await daemon.kill("SIGKILL");
  daemon = await start(kind, daemon.home);
  const client = await daemon.connect();
  await client.open(session_id, {}, { resume: true, last_seen_seq: 0 });
  await client.next((frame) => frame["seq"] === wanted.length);
  expect(client.frames.filter((frame) => frame["seq"] !== undefined)).toEqual(wanted);
}
