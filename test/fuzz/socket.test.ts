// Broken lines over a real socket to a real daemon: one reply or a close for each, nobody else notices, and
// the daemon goes on. SOCKET_INPUTS for more.
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { type Frame, RawClient } from "../support/raw-client.ts";
import { checkOutbound } from "../support/schemas.ts";
import { seededRandom } from "../store/random.ts";
import { type Protocol, validFrame } from "./corpus.ts";
import { mutate } from "./mutate.ts";

const INPUTS = Number(process.env["SOCKET_INPUTS"] ?? 20_000);
const FIRST_FRAMES = 300;
const BATCH = 50;
const MAX_LINE = 65_536;
const LONG = { timeout: 600_000 };
const IDS = ["s1", "s2", "s3"];
/** Told when it happens, not in answer to a line. */
const UNASKED = new Set(["blemeesd.session_taken", "blemeesd.session_closed", "blemeesd.replay_gap"]);

let daemon: TestDaemon;
let steady: Steady;

beforeAll(async () => {
  daemon = await startDaemon({
    env: {
      BLEMEESD_CLAUDE: "/nowhere/claude",
      BLEMEESD_MAX_LINE: String(MAX_LINE),
      BLEMEESD_IDLE_TIMEOUT: "1",
      BLEMEESD_LOG_LEVEL: "error",
    },
  });
  steady = await openSteady(daemon);
});
afterAll(async () => daemon.close());

test("every line gets exactly one reply, or the connection is closed with a reason", LONG, async () => {
  let client = await daemon.connect();
  let sent = 0;
  let closes = 0;
  const startedMs = performance.now();
  for (let seed = 1; seed <= INPUTS; ) {
    const batch: Buffer[] = [];
    let isLast = false;
    for (; batch.length < BATCH && seed <= INPUTS && !isLast; seed += 1) {
      const bytes = input("blemees/2", seed);
      isLast = longestLine(bytes) > MAX_LINE; // closes the connection, so nothing may stand behind it
      batch.push(bytes);
    }
    sent += batch.length;
    const before = replies(client).length;
    const lines = batch.reduce((count, bytes) => count + linesIn(bytes), 0);
    client.sendRaw(Buffer.concat(batch));
    if (isLast) {
      await client.closed;
      expect(client.frames.at(-1)).toMatchObject({ type: "blemeesd.error", code: "oversize_message" });
      closes += 1;
      client = await daemon.connect();
    } else {
      await settled(client, before + lines, seed);
    }
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const slowest = Math.round(steady.slowestMs());
  console.log(`socket fuzz: ${sent} lines in ${seconds} s, ${closes} closes, slowest ping ${slowest} ms`);
  checkOutbound(client.frames);
});

test("a broken first frame gets one error and a close, a whole one gets its hello_ack", LONG, async () => {
  const codes = new Set<unknown>();
  for (let seed = 1; seed <= FIRST_FRAMES; seed += 1) {
    const client = await RawClient.connect(daemon.socket);
    const bytes = input(seed % 2 === 0 ? "blemees/1" : "blemees/2", seed * 7_919);
    client.sendRaw(bytes);
    const first = await client.next(() => true);
    codes.add(first["code"] ?? first.type);
    if (first.type !== "blemeesd.hello_ack") {
      expect(first.type).toBe("blemeesd.error");
      await client.closed;
      expect(client.frames).toHaveLength(1);
    }
    client.close();
  }
  expect(codes).toContain("invalid_message");
});

test("a session that was there before still works, and the daemon met no surprise", LONG, async () => {
  await steady.stop();
  expect(steady.pings()).toBeGreaterThan(100);
  const result = await steady.client.turn("steady", "are you there?");
  expect(result["subtype"]).toBe("success");
  expect(daemon.log()).toBe("");
});

function input(protocol: Protocol, seed: number): Buffer {
  const random = seededRandom(seed);
  return Buffer.concat([mutate(validFrame(protocol, IDS, random), random), Buffer.from("\n")]);
}

/** Waits until so many replies are there, then a ping more: none may come on top. */
async function settled(client: RawClient, wanted: number, seed: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (replies(client).length < wanted) {
    if (performance.now() > deadline) {
      throw new Error(`before seed ${seed}: ${wanted} replies wanted, ${replies(client).length} came`);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await client.request({ type: "blemeesd.ping" });
  const extra = replies(client).length - wanted - 1;
  if (extra !== 0) throw new Error(`before seed ${seed}: ${extra} replies too many`);
  checkOutbound(client.frames.splice(0));
}
