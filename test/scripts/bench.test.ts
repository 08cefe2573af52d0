// The bench's own parts at tiny size: fake agent, relay, reader and timer, in C and in Node. A bench that cannot see a
// lost frame proves nothing, so the reader is also shown wrong streams.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
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
  ping(count: number): Promise<Figures>;
  attach(count: number): Promise<void>;
  opened: Figures;
  close(): Promise<void>;
}
// The scripts are plain JavaScript without declarations, so their modules are loaded by address.
const part = (name: string) => import(new URL(`../../scripts/bench/${name}.mjs`, import.meta.url).href);
const { Workbench } = await part("workbench");
const { prepareTools } = await part("tools");
const { relayProgram, startRelay, timeProgram } = await part("targets");
const { Load } = await part("load");
const { descendantsOf, IS_LINUX, memoryMb } = await part("proc");

describe.each([{ isNative: true }, { isNative: false }])("agent and reader, native: $isNative", (wish) => {
  let bench: { directory: string; makeDirectory(): string; close(): Promise<void> };
  let context: { bench: typeof bench; tools: { kind: string; agent: string; reader: string; timer: string } };
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

  test("times every ping", async () => {
    const relay = await startRelay(context);
    const load: Load = await Load.open(context, relay.socketPath, 1);
    const figures = await load.ping(20);
    expect(figures).toMatchObject({ frames: 0, samples: 20 });
    expect(figures.p50_ns).toBeGreaterThan(0);
    await load.close();
    await relay.stop();
  });

  test("reads what a resumed session had, and its next turn", async () => {
    const socketPath = join(bench.makeDirectory(), "s");
    const server = await serveLines(socketPath, [delta(3), result(4)], [delta(1), result(2)]);
    const load: Load = await Load.resume(context, socketPath, ["s"]);
    expect(load.opened).toMatchObject({ frames: 2, missing: 0 });
    expect(await load.say()).toMatchObject({ frames: 2, missing: 0, duplicates: 0 });
    await load.close();
    server.close();
  });

  test("expects every event at every watcher, from where it attached", async () => {
    const socketPath = join(bench.makeDirectory(), "s");
    const server = await serveLines(socketPath, [delta(3), result(4)], [delta(1), result(2)]);
    const load: Load = await Load.resume(context, socketPath, ["s"]);
    await load.attach(2);
    expect(await load.say()).toMatchObject({ deltas: 3, results: 3, missing: 0 });
    await load.close();
    server.close();
  });

  test("times a program until it exits or answers hello, and refuses one that fails", async () => {
    const node = { command: [process.execPath, "-e", "0"], env: process.env };
    expect((await timeProgram(context, node)).wallMs).toBeGreaterThan(0);
    expect((await timeProgram(context, relayProgram(context))).wallMs).toBeGreaterThan(0);
    const failing = { command: ["sh", "-c", "exit 3"], env: process.env };
    await expect(timeProgram(context, failing)).rejects.toThrow("sh -c exit 3");
    await expect(timeProgram(context, { ...failing, socketPath: "none" })).rejects.toThrow("sh -c exit 3");
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

/** Sends `lines` to all connections for a user message, and `history` to a client that opens a session. */
async function serveLines(
  socketPath: string,
  lines: readonly string[],
  history: readonly string[] = [],
): Promise<Server> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {}); // a reader that refused the stream is simply gone
    const send = (...texts: readonly string[]) => socket.write(texts.map((text) => `${text}\n`).join(""));
    socket.on("data", (chunk) => {
      const text = chunk.toString();
      const last_seq = history.length;
      if (text.includes("blemeesd.hello")) send('{"type":"blemeesd.hello_ack"}');
      if (text.includes("blemeesd.open"))
        send(JSON.stringify({ type: "blemeesd.opened", last_seq }), ...history);
      if (text.includes("blemeesd.watch")) send(JSON.stringify({ type: "blemeesd.watching", last_seq }));
      if (text.includes("agent.user")) for (const each of sockets) each.write(`${lines.join("\n")}\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return server;
}
