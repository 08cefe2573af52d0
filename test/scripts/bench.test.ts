// The bench's own parts at tiny size: fake agent, relay and reader, in C and in Node. A bench that cannot see a
// lost frame proves nothing, so the reader is also shown wrong streams.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

interface Figures {
  frames: number;
  deltas: number;
  results: number;
  missing: number;
  duplicates: number;
  unnumbered: number;
  gaps: number;
  samples: number;
  p50_ns: number;
  elapsed_ns: number;
}
interface Load {
  flood(events: number): Promise<Figures>;
  pace(rate: number, seconds: number): Promise<Figures>;
  say(): Promise<Figures>;
  watch(): Promise<Figures>;
  close(): Promise<void>;
}
// The scripts are plain JavaScript without declarations, so their modules are loaded by address.
const part = (name: string) => import(new URL(`../../scripts/bench/${name}.mjs`, import.meta.url).href);
const { Workbench } = await part("workbench");
const { prepareTools } = await part("tools");
const { startRelay } = await part("targets");
const { Load } = await part("load");
const { judge } = await part("goals");
const { median } = await part("rounds");
const { descendantsOf, IS_LINUX, memoryMb } = await part("proc");

describe.each([{ isNative: true }, { isNative: false }])("agent and reader, native: $isNative", (wish) => {
  let bench: { directory: string; makeDirectory(): string; close(): Promise<void> };
  let context: { bench: typeof bench; tools: { kind: string; agent: string; reader: string } };
  beforeAll(() => {
    bench = new Workbench();
    context = { bench, tools: prepareTools(bench.directory, wish) };
  });
  afterAll(() => bench.close());

  /** Runs one turn against a server that answers every user message with these lines. */
  async function turnAgainst(lines: readonly string[]): Promise<Figures> {
    const socketPath = join(bench.makeDirectory(), "s");
    const server = await serveLines(socketPath, lines);
    const load: Load = await Load.open(context, socketPath, 1);
    try {
      return await load.say();
    } finally {
      await load.close();
      server.close();
    }
  }

  test("counts every event of every session through the relay, in order, turn after turn", async () => {
    const relay = await startRelay(context);
    const load: Load = await Load.open(context, relay.socketPath, 3);
    for (let turn = 0; turn < 2; turn++) {
      const figures = await load.flood(3000);
      expect(figures).toMatchObject({ deltas: 3000, results: 3, frames: 3006, missing: 0, duplicates: 0 });
    }
    await load.close();
    await relay.stop();
  });

  test("measures a paced stream from the agent's write to the reader's read", async () => {
    const relay = await startRelay(context);
    const load: Load = await Load.open(context, relay.socketPath, 1);
    const figures = await load.pace(200, 0.2);
    expect(figures).toMatchObject({ deltas: 40, samples: 40 });
    expect(figures.elapsed_ns).toBeGreaterThan(190e6);
    expect(figures.p50_ns).toBeGreaterThan(0);
    expect(figures.p50_ns).toBeLessThan(figures.elapsed_ns);
    await load.close();
    await relay.stop();
  });

  test("accepts a gapless stream", async () => {
    const figures = await turnAgainst([delta(1), result(2)]);
    expect(figures).toMatchObject({ frames: 2, deltas: 1, results: 1, missing: 0, duplicates: 0 });
  });

  test.each([
    ["a missing seq", [delta(1), result(3)], "1 missing"],
    ["a first seq that is not 1", [delta(2), result(3)], "1 missing"],
    ["a duplicate seq", [delta(1), delta(1), result(2)], "1 duplicate"],
    ["a frame without seq", [delta(1), '{"type":"agent.notice"}', result(2)], "1 without seq"],
    ["a replay gap", [delta(1), '{"type":"blemeesd.replay_gap"}', result(2)], "1 replay_gap"],
    ["an event too few", [result(1)], "expected 1 agent.delta frames, got 0"],
  ])("refuses a stream with %s", async (_, lines, message) => {
    await expect(turnAgainst(lines)).rejects.toThrow(message);
  });
});

test("takes the middle, or the mean of the two middles", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
});

test("a figure that was never measured misses its target", () => {
  const isMet = (row: object) => judge(row).every((goal: { isMet: boolean }) => goal.isMet);
  expect(isMet({ id: "replay", value: 200_000 })).toBe(true);
  expect(isMet({ id: "replay", value: 199_999 })).toBe(false);
  expect(isMet({ id: "replay", value: Number.NaN })).toBe(false);
  expect(isMet({ id: "throughput.8.memory", value: 70, reference: 100 })).toBe(true);
  expect(isMet({ id: "throughput.8.memory", value: 70 })).toBe(false);
});

test.skipIf(!IS_LINUX)("finds the processes below one, and the processes below those", async () => {
  const shell = spawn("sh", ["-c", "sh -c 'sleep 60; true' & echo $!; wait"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const [chunk] = await once(shell.stdout, "data");
    const inner = Number(String(chunk));
    await vi.waitFor(() => expect(descendantsOf(shell.pid)).toHaveLength(2), { interval: 10 });
    expect(descendantsOf(process.pid)).toEqual(
      expect.arrayContaining([shell.pid, inner, ...descendantsOf(inner)]),
    );
    expect(memoryMb(inner, "VmRSS")).toBeGreaterThan(0);
  } finally {
    for (const pid of [...descendantsOf(shell.pid), shell.pid]) process.kill(pid, "SIGKILL");
  }
});

const delta = (seq: number) => `{"session_id":"s","seq":${seq},"type":"agent.delta","text":"x"}`;
const result = (seq: number) => `{"session_id":"s","seq":${seq},"type":"agent.result"}`;

async function serveLines(socketPath: string, lines: readonly string[]): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => {}); // a reader that refused the stream is simply gone
    socket.on("data", (chunk) => {
      const text = chunk.toString();
      if (text.includes("blemeesd.hello")) socket.write('{"type":"blemeesd.hello_ack"}\n');
      if (text.includes("blemeesd.open")) socket.write('{"type":"blemeesd.opened"}\n');
      if (text.includes("agent.user")) socket.write(`${lines.join("\n")}\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return server;
}
