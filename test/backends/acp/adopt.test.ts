// Sessions of an ACP agent that outlives its daemon.
// lane: process
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createAcpBackend } from "../../../src/backends/acp/index.ts";
import type { AcpSpec } from "../../../src/backends/acp/spec.ts";
import type { Backend } from "../../../src/backends/types.ts";
import { seededRandom } from "../../store/random.ts";
import { PATIENT } from "../../support/patience.ts";
import { type KeptSession, type Lives, newLives } from "../adoption.ts";
import { liveManyTimes, seeds } from "../many-lives.ts";
import { isRunning } from "../processes.ts";
import { type FakeHome, fakeHome, fakeParts, type Setup } from "./fake.ts";

interface World {
  lives: Lives;
  home: FakeHome;
  daemon(): Backend;
  /** What the agent received with this method. */
  heard(method: string): Array<{ id?: number; params?: Record<string, unknown> }>;
}

function newWorld(setup: Setup = {}, over: Partial<AcpSpec> = {}): World {
  const lives = newLives();
  const home = fakeHome();
  const parts = fakeParts(home, { record: true, ...setup });
  const daemon = () => {
    const spec = { ...parts.spec, process: "shared" as const, ...over };
    return createAcpBackend(spec, { ...parts.host, runs: lives.runs });
  };
  const heard: World["heard"] = (method) => {
    const lines = readFileSync(join(home.home, "heard"), "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line)).filter((message) => message.method === method);
  };
  return { lives, home, daemon, heard };
}

async function open({ lives, home, daemon }: World, count = 2, options: object = {}): Promise<KeptSession[]> {
  const backend = daemon();
  const sessions: KeptSession[] = [];
  while (sessions.length < count) sessions.push(await lives.open(backend, { cwd: home.cwd, ...options }));
  return sessions;
}

function wordsOf({ sink }: KeptSession): string {
  return sink.events.flatMap((event) => (event.type === "agent.delta" ? [event.text ?? ""] : [])).join("");
}

const words = (count: number) => Array.from({ length: count }, (_, n) => `word${n} `).join("");

test("an approval that was open when the daemon died is answered by the next one, and takes effect once", async () => {
  const world = newWorld();
  const [one, two] = (await open(world)) as [KeptSession, KeptSession];
  await one.send("#ask make");
  const ask = await one.sink.untilAsk(1);
  await two.send("#slow 20 5");
  await two.sink.until(() => wordsOf(two).length > 20);
  for (const session of [one, two]) session.store();
  world.lives.die();

  await world.lives.adopt(world.daemon(), [one, two]);
  expect(one.past.asks).toMatchObject([{ native_id: ask.native_id }]);
  expect(one.run.isBusy).toBe(true);
  expect(await one.answer(ask.native_id, { decision: "accept" })).toBe(true);
  await Promise.all([one.sink.untilResults(1), two.sink.untilResults(1)]);
  expect(one.sink.texts.join("")).toBe("answer: yes. ");
  expect(one.sink.asks).toHaveLength(1);
  expect(wordsOf(two)).toBe(words(20));
  expect(world.heard("session/prompt")).toHaveLength(2);
});

test("stopping the last session ends the process and removes its run directory", async () => {
  const world = newWorld();
  const sessions = await open(world);
  const pid = sessions[0]?.run.pid ?? 0;
  for (const session of sessions) session.store();
  world.lives.die();
  const found = await world.lives.find();
  await world.lives.adopt(world.daemon(), sessions, found);
  await sessions[0]?.run.stop("finish");
  expect(isRunning(pid)).toBe(true);
  await sessions[1]?.run.stop("finish");
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false), PATIENT);
  await vi.waitFor(() => expect(existsSync(found.directory.path)).toBe(false), PATIENT);
  expect(sessions[0]?.sink.ends).toMatchObject([{ expected: true }]);
});

test("an adopted turn can be interrupted, and the session takes the next message", async () => {
  const world = newWorld();
  const [one, two] = (await open(world)) as [KeptSession, KeptSession];
  await one.send("#slow 10000 5");
  await one.sink.until(() => wordsOf(one).length > 20);
  for (const session of [one, two]) session.store();
  world.lives.die();
  await world.lives.adopt(world.daemon(), [one, two]);
  await one.interrupt();
  expect(one.sink.results).toMatchObject([{ subtype: "interrupted" }]);
  const said = wordsOf(one);
  expect(words(10_000).startsWith(said)).toBe(true);
  await one.send("#say hello");
  await one.sink.untilResults(2);
  expect(one.sink.texts.at(-1)).toBe("hello");
});

test("the echo of a message is reported once, whether it was stored or not", async () => {
  const world = newWorld();
  const [one, two] = (await open(world, 2, { user_echo: true })) as [KeptSession, KeptSession];
  await one.send("#wait");
  one.store();
  await two.send("#wait");
  two.sink.heard.length = 0; // not stored: no client got it
  world.lives.die();
  await world.lives.adopt(world.daemon(), [one, two]);
  const echoes = (session: KeptSession) =>
    session.sink.events.filter(({ type }) => type === "agent.user_echo").length;
  expect([echoes(one), echoes(two)]).toEqual([1, 1]);
  await Promise.all([one.interrupt(), two.interrupt()]);
  expect(world.heard("session/prompt")).toHaveLength(2);
});

test("a turn that was abandoned stays so, and the session is opened again for the next message", async () => {
  const world = newWorld();
  const [one, two] = (await open(world)) as [KeptSession, KeptSession];
  await one.send("#hang");
  await one.sink.until(() => wordsOf(one) !== "");
  await one.interrupt();
  expect(one.sink.results).toMatchObject([{ subtype: "interrupted" }]);
  await two.send("#say hello");
  await two.sink.untilResults(1);
  two.checkpoint(); // it enters the replay after that
  for (const session of [one, two]) session.store();
  world.lives.die();
  await world.lives.adopt(world.daemon(), [one, two]);
  expect(one.past.results).toHaveLength(1);
  await one.send("#say again");
  await one.sink.untilResults(2);
  one.store();
  world.lives.die();
  await world.lives.adopt(world.daemon(), [one, two]);
  await one.send("#say and again");
  await one.sink.untilResults(3);
  expect(one.sink.texts.slice(-2)).toEqual(["again", "and again"]);
  expect(world.heard("session/resume")).toHaveLength(1);
});

test.each(seeds(3))(
  "a daemon that dies at any moment loses no report and repeats none (seed %i)",
  async (seed) => {
    const home = fakeHome();
    const { spec, host } = fakeParts(home);
    const clients = await liveManyTimes({
      random: seededRandom(seed),
      scripts: {
        slow: (count, ms) => ({ text: `#slow ${count} ${ms}`, said: words(count) }),
        ask: { text: "#ask make", said: "answer: yes. " },
        wait: "#wait",
      },
      options: { cwd: home.cwd },
      daemon: (runs) => createAcpBackend({ ...spec, process: "shared" }, { ...host, runs }),
      sessions: 3,
      turns: 8,
      deaths: 15,
    });
    for (const { texts, turns, asks } of clients) {
      expect(texts).toEqual(turns);
      expect(new Set(asks).size).toBe(asks.length);
    }
  },
);
