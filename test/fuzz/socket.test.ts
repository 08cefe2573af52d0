// Broken lines over a real socket to a real daemon: one reply or a close for each, other clients do not notice, and the
// daemon continues. SOCKET_INPUTS sets a larger number.
import { afterAll, beforeAll, expect, test } from "vitest";
import { figure } from "../crash/figure.ts";
import { seededRandom } from "../store/random.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { type Frame, RawClient } from "../support/raw-client.ts";
import { checkOutbound } from "../support/schemas.ts";
import { size } from "../support/sizes.ts";
import { type Protocol, validFrame } from "./corpus.ts";
import { mutate } from "./mutate.ts";
import { Pinger } from "./pinger.ts";

/** For each dialect. */
const INPUTS = size("SOCKET_INPUTS", 1_000);
const PROTOCOLS: Protocol[] = ["blemees/2", "blemees/1"];
const FIRST_FRAMES = 300;
const BATCH = 50;
const MAX_LINE = 65_536;
const PATIENCE_MS = 45_000;
const LONG = { timeout: 600_000 };
const IDS = ["s1", "s2", "s3"];
/** Sent when it happens, not as the reply to a line. */
const UNASKED = new Set(["blemeesd.session_taken", "blemeesd.session_closed", "blemeesd.replay_gap"]);

let daemon: TestDaemon;
let steady: RawClient;
let pinger: Pinger;

beforeAll(async () => {
  daemon = await startDaemon({
    env: {
      BLEMEESD_CLAUDE: "/nowhere/claude",
      BLEMEESD_MAX_LINE: String(MAX_LINE),
      BLEMEESD_IDLE_TIMEOUT: "1",
      BLEMEESD_LOG_LEVEL: "error",
    },
  });
  steady = await daemon.connect();
  await steady.open("steady", {}, { backend: "demo", options: {} });
  pinger = new Pinger(await daemon.connect());
});
afterAll(async () => {
  await pinger.stop();
  await daemon.close();
});

test.each(PROTOCOLS)(
  "%s: every line gets exactly one reply, or a reason and a close",
  LONG,
  async (protocol) => {
    const startedMs = performance.now();
    let closes = 0;
    let line = await openLine(protocol);
    for (let seed = 1; seed <= INPUTS; ) {
      const batch: Buffer[] = [];
      let isTooLong = false;
      for (; batch.length < BATCH && seed <= INPUTS && !isTooLong; seed += 1) {
        const bytes = input(protocol, seed);
        isTooLong = bytes.length > MAX_LINE; // closes the connection, so nothing may follow it
        batch.push(bytes);
      }
      const bytes = Buffer.concat(batch);
      if (!isTooLong) {
        await line.exchange(bytes, seed);
        continue;
      }
      line.client.sendRaw(bytes);
      await line.client.closed;
      expect(line.client.frames.at(-1)).toMatchObject({ type: "blemeesd.error", code: "oversize_message" });
      closes += 1;
      line = await openLine(protocol);
    }
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    figure(
      `socket fuzz, ${protocol}: ${INPUTS} lines in ${seconds} s, ${closes} closes; ` +
        `meanwhile ${pinger.count} pings, the slowest ${Math.round(pinger.slowestMs)} ms`,
    );
    expect(closes).toBeGreaterThan(0);
  },
);

test("a broken first frame gets one error and a close, a valid one gets its hello_ack", LONG, async () => {
  const answers = new Set<unknown>();
  for (let seed = 1; seed <= FIRST_FRAMES; seed += 1) {
    const client = await RawClient.connect(daemon.socket);
    client.sendRaw(input(seed % 2 === 0 ? "blemees/1" : "blemees/2", seed * 7_919));
    const first = await client.next(() => true);
    answers.add(first["code"] ?? first.type);
    if (first.type === "blemeesd.error") {
      await client.closed;
      expect(client.frames).toHaveLength(1);
    }
    client.close();
  }
  expect(answers).toContain("invalid_message");
  expect(answers).toContain("blemeesd.hello_ack");
});

test("other clients were always answered, an old session still works, the daemon logged nothing", async () => {
  await pinger.stop();
  expect(pinger.count).toBeGreaterThan(100);
  const result = await steady.turn("steady", "are you there?");
  expect(result["subtype"]).toBe("success");
  expect(daemon.log()).toBe("");
});

function input(protocol: Protocol, seed: number): Buffer {
  const random = seededRandom(seed);
  const frame = validFrame(protocol, IDS, random);
  // Turns take time; a message to an unknown session is answered at once.
  if (frame["type"] === "agent.user") frame["session_id"] = "nobody";
  return Buffer.concat([mutate(frame, random), Buffer.from("\n")]);
}

interface Line {
  client: RawClient;
  /** Sends lines and waits until each has its reply, and no other. */
  exchange(bytes: Buffer, seed: number): Promise<void>;
}

async function openLine(protocol: Protocol): Promise<Line> {
  const client = await daemon.connect(protocol);
  let looked = client.frames.length;
  const results = new Set<unknown>();
  const isReply = (frame: Frame) => {
    if (frame["seq"] === undefined) return !UNASKED.has(frame.type);
    // A message is answered by its turn; a client that also watches the session gets the end of it twice.
    const isNew = frame.type === "agent.result" && !results.has(frame["turn_id"]);
    return isNew && results.add(frame["turn_id"]) !== undefined;
  };
  const countReplies = () => {
    const fresh = client.frames.slice(looked);
    looked += fresh.length;
    if (protocol === "blemees/2") checkOutbound(fresh);
    return fresh.filter(isReply).length;
  };
  return {
    client,
    async exchange(bytes, seed) {
      let open = bytes.filter((byte) => byte === 0x0a).length;
      const deadline = performance.now() + PATIENCE_MS;
      client.sendRaw(bytes);
      for (;;) {
        open -= countReplies();
        if (open <= 0) break;
        if (performance.now() > deadline) throw new Error(`before seed ${seed}: ${open} lines unanswered`);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await client.request({ type: "blemeesd.ping" });
      const extra = countReplies() - 1 - open;
      if (extra !== 0) throw new Error(`before seed ${seed}: ${extra} replies too many`);
    },
  };
}
