// A real daemon on a disk that is full or read-only for a while: clients still see everything, marked as not stored;
// afterwards the gap is reported and seq continues. JSONL files on such a disk only fall behind.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import type { Frame, RawClient } from "../support/raw-client.ts";
import { checkOutbound } from "../support/schemas.ts";
import { SmallDisk, whyNoSmallDisk } from "./small-disk.ts";

const missing = whyNoSmallDisk();
type Kind = "sqlite" | "jsonl";
let disk: SmallDisk;
let daemon: TestDaemon;

describe.skipIf(missing !== undefined)(`disk faults${missing === undefined ? "" : ` (${missing})`}`, () => {
  afterEach(async () => {
    await daemon.close();
    disk.close();
  });

  test("on a full disk frames come without seq; with space again seq continues", async () => {
    disk = new SmallDisk();
    daemon = await start("sqlite");
    const client = await daemon.connect();
    const session_id = randomUUID();
    await client.open(session_id, { include_partial_messages: true });
    const before = await playTurn(client, session_id);
    expect(stored(before)).toHaveLength(before.length);

    disk.fill();
    const during = await playTurn(client, session_id);
    // A batch may still have found some space; a frame that is not stored says so, and that is most of them.
    const lost = during.filter((frame) => frame["persisted"] === false);
    expect(stored(during).length + lost.length).toBe(during.length);
    expect(lost.length).toBeGreaterThan(0);
    expect(during.at(-1)).toMatchObject({ type: "agent.result", subtype: "success" });
    expect((await client.request({ type: "blemeesd.ping" })).type).toBe("blemeesd.pong");

    // The stream retries by itself: the notice may come before the next turn.
    const from = client.frames.length;
    disk.free();
    await playTurn(client, session_id);
    const after = client.frames.slice(from).filter((frame) => frame["session_id"] === session_id);
    expect(stored(after)).toHaveLength(after.length);
    expect(after[0]).toMatchObject({ category: "event_persist_recovered" });
    // Each gap has its notice; there is more than one if a batch found some space.
    const gaps = [...during, ...after].flatMap(({ category, data }) =>
      category === "event_persist_recovered" ? [(data as { lost: number }).lost] : [],
    );
    expect(gaps.reduce((sum, count) => sum + count)).toBe(lost.length);
    checkOutbound(client.frames);
    await expectHistory("sqlite", session_id, [...before, ...during, ...after]);
  });

  test.each(["full", "read-only"])(
    "JSONL files on a disk that is %s: no frame waits for them, and later they have all of it",
    async (what) => {
      disk = new SmallDisk();
      daemon = await start("jsonl");
      const client = await daemon.connect();
      const session_id = randomUUID();
      await client.open(session_id, { include_partial_messages: true });
      const before = await playTurn(client, session_id);
      expect(readLog(session_id)).toEqual(before);

      if (what === "full") disk.fill();
      else disk.setReadOnly(true);
      const during = await playTurn(client, session_id);
      expect(stored(during)).toHaveLength(during.length);
      await expect.poll(() => daemon.log(), { timeout: 20_000 }).toContain("store.export_failed");

      if (what === "full") disk.free();
      else disk.setReadOnly(false);
      const after = await playTurn(client, session_id);
      checkOutbound(client.frames);
      expect(readLog(session_id)).toEqual([...before, ...during, ...after]);
      await expectHistory("jsonl", session_id, [...before, ...during, ...after]);
    },
  );
});

function start(kind: Kind, home?: string): Promise<TestDaemon> {
  const name = kind === "jsonl" ? "BLEMEESD_EVENT_LOG_DIR" : "BLEMEESD_STATE_DIR";
  const env = { [name]: disk.dir, BLEMEESD_LOG_LEVEL: "warn" };
  return startDaemon({ env, ...(home === undefined ? {} : { home }) });
}

/** The frames of the session's stream during one turn. */
async function playTurn(client: RawClient, session_id: string): Promise<Frame[]> {
  const from = client.frames.length;
  await client.turn(session_id, "#slow 20 2");
  return client.frames.slice(from).filter((frame) => frame["session_id"] === session_id);
}

/** The session's file on the disk. */
function readLog(session_id: string): unknown[] {
  const text = readFileSync(join(disk.dir, `${session_id}.jsonl`), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

function stored(frames: readonly Frame[]): Frame[] {
  return frames.filter((frame) => frame["seq"] !== undefined);
}

/** Another client, also after a restart, reads exactly what was stored: seq 1, 2, 3 … */
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
