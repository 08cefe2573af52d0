// Threads of an app-server that outlives its daemon.
// lane: process
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createCodexBackend } from "../../../src/backends/codex/index.ts";
import type { RunsHost } from "../../../src/backends/runs-host.ts";
import type { Backend } from "../../../src/backends/types.ts";
import { seededRandom } from "../../store/random.ts";
import { PATIENT } from "../../support/patience.ts";
import { type KeptSession, type Lives, newLives } from "../adoption.ts";
import { liveManyTimes, seeds } from "../many-lives.ts";
import { isRunning, pidIn } from "../processes.ts";
import { FAKE_CODEX, type FakeHome, fakeHome } from "./fake.ts";

interface World {
  lives: Lives;
  home: FakeHome;
  daemon(): Backend;
}

function newWorld(): World {
  const lives = newLives();
  const home = fakeHome();
  return { lives, home, daemon: () => newDaemon(home, lives.runs) };
}

function newDaemon({ env }: FakeHome, runs: RunsHost): Backend {
  return createCodexBackend({ bin: FAKE_CODEX, env, lingerMs: 0, runs });
}

async function openTwo({ lives, home, daemon }: World): Promise<[KeptSession, KeptSession]> {
  const backend = daemon();
  const options = { cwd: home.cwd };
  return [await lives.open(backend, options), await lives.open(backend, options)];
}

function ticksOf({ sink }: KeptSession): string[] {
  return sink.events.flatMap((event) => (event.type === "agent.delta" ? [event.text ?? ""] : []));
}

const expected = (count: number) => Array.from({ length: count }, (_, n) => `tick${n} `);

test("an approval that was open when the daemon died is answered by the next one, and takes effect once", async () => {
  const world = newWorld();
  const [one, two] = await openTwo(world);
  await one.send("#ask make");
  const ask = await one.sink.untilAsk(1);
  await two.send("#slow 20 5");
  await two.sink.until(() => ticksOf(two).length > 3);
  for (const session of [one, two]) session.store();
  world.lives.die();

  await world.lives.adopt(world.daemon(), [one, two]);
  expect(one.past.asks).toMatchObject([{ native_id: ask.native_id }]);
  expect(one.run.isBusy).toBe(true);
  expect(await one.answer(ask.native_id, { decision: "accept" })).toBe(true);
  await Promise.all([one.sink.untilResults(1), two.sink.untilResults(1)]);
  expect(one.sink.texts).toEqual(['decision "accept"']);
  expect(one.sink.asks).toHaveLength(1);
  expect(ticksOf(two)).toEqual(expected(20));
  expect(two.sink.results).toMatchObject([{ subtype: "success" }]);
});

test("stopping the last session ends the process and removes its run directory", async () => {
  const world = newWorld();
  const [one, two] = await openTwo(world);
  const { pid } = one.run;
  for (const session of [one, two]) session.store();
  world.lives.die();
  const found = await world.lives.find();
  await world.lives.adopt(world.daemon(), [one, two], found);
  await one.run.stop("finish");
  expect(isRunning(pid ?? 0)).toBe(true);
  await two.run.stop("finish");
  await vi.waitFor(() => expect(isRunning(pid ?? 0)).toBe(false), PATIENT);
  await vi.waitFor(() => expect(existsSync(found.directory.path)).toBe(false), PATIENT);
  expect(one.sink.ends).toMatchObject([{ expected: true }]);
});

test("an adopted turn can be interrupted, and the session takes the next message", async () => {
  const world = newWorld();
  const [one, two] = await openTwo(world);
  await one.send("#slow 10000 5");
  await one.sink.until(() => ticksOf(one).length > 3);
  for (const session of [one, two]) session.store();
  world.lives.die();
  await world.lives.adopt(world.daemon(), [one, two]);
  await one.interrupt();
  expect(one.sink.results).toMatchObject([{ subtype: "interrupted" }]);
  await one.send("hello");
  await one.sink.untilResults(2);
  expect(one.sink.texts.at(-1)).toBe("You said: hello");
  const ticks = ticksOf(one).filter((text) => text.startsWith("tick"));
  expect(ticks).toEqual(expected(ticks.length));
});

test("what a later turn has started is not ended with the interrupted turn before it", async () => {
  const world = newWorld();
  const [one, two] = await openTwo(world);
  await one.send("#wait");
  await one.interrupt();
  const file = join(world.home.cwd, "pid");
  await one.send(`#tool echo $$ > ${file}; exec sleep 1000`);
  const pid = await pidIn(file);
  for (const session of [one, two]) session.store();
  world.lives.die();
  await world.lives.adopt(world.daemon(), [one, two]);
  // It takes at least as long as what was repeated.
  await two.send("#wait");
  await two.interrupt();
  expect(isRunning(pid)).toBe(true);
  await one.interrupt();
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false), PATIENT);
});

test("a turn that was abandoned beside other sessions does not end their process", async () => {
  const world = newWorld();
  const [one, two] = await openTwo(world);
  const { pid } = one.run;
  void one.send("#no-reply");
  await one.interrupt();
  expect(one.sink.results).toMatchObject([{ subtype: "interrupted" }]);
  await two.send("hello");
  await two.sink.untilResults(1);
  two.checkpoint(); // it enters the replay after that
  for (const session of [one, two]) session.store();
  world.lives.die();
  await world.lives.adopt(world.daemon(), [one, two]);
  expect(one.past.results).toMatchObject([{ subtype: "interrupted" }]);
  await two.send("hello again");
  await two.sink.untilResults(2);
  expect(isRunning(pid ?? 0)).toBe(true);
});

test.each(seeds(3))(
  "a daemon that dies at any moment loses no report and repeats none (seed %i)",
  async (seed) => {
    const home = fakeHome();
    const clients = await liveManyTimes({
      random: seededRandom(seed),
      scripts: {
        slow: (count, ms) => ({ text: `#slow ${count} ${ms}`, said: expected(count).join("") }),
        ask: { text: "#ask make", said: 'decision "accept"' },
        wait: "#wait",
      },
      options: { cwd: home.cwd },
      daemon: (runs) => newDaemon(home, runs),
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
