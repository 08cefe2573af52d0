// Run directories of a real daemon: nothing is left of an agent that ended, and nothing is adopted by mistake.
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { HttpClient } from "../../src/client/index.ts";
import { findLeft } from "../outlive/proof.ts";
import { eventually } from "../servers/http/world.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";

interface World {
  daemon: TestDaemon;
  http: HttpClient;
  runs: string;
}

async function start(home?: string): Promise<World> {
  const daemon = await startDaemon(home === undefined ? {} : { home });
  onTestFinished(() => daemon.close());
  const runs = join(daemon.home, "state/blemees/runs");
  return { daemon, http: new HttpClient({ socket: daemon.socket, retry: false }), runs };
}

function listRuns(runs: string): string[] {
  return existsSync(runs) ? readdirSync(runs) : [];
}

/** A session in the middle of a turn. */
async function spawn({ http }: World, name: string): Promise<string> {
  const { session } = await http.spawn({ backend: "claude", name, prompt: "#slow 100000 20" });
  await eventually(async () => (await http.session(session.session_id)).activity_state).toBe("working");
  return session.session_id;
}

async function findSpawned(world: World, name: string): Promise<{ id: string; run: string }> {
  const before = listRuns(world.runs);
  const id = await spawn(world, name);
  const run = listRuns(world.runs).find((one) => !before.includes(one));
  if (run === undefined) throw new Error("it has no run directory");
  return { id, run: join(world.runs, run) };
}

test("after interrupt, stop, rm and shutdown no process, FIFO or directory is left", async () => {
  const world = await start();
  const { http, runs, daemon } = world;
  const stopped = await spawn(world, "stopped");
  const removed = await spawn(world, "removed");
  const kept = await spawn(world, "kept");
  expect(listRuns(runs)).toHaveLength(3);
  await http.interrupt(stopped);
  await http.stop(stopped);
  await http.remove(removed);
  await eventually(async () => listRuns(runs).length).toBe(1);
  await eventually(async () => findLeft(daemon.home).length).toBe(1);
  expect((await http.session(kept)).activity_state).toBe("working");
  await daemon.kill("SIGTERM");
  expect(listRuns(runs)).toEqual([]);
  expect(findLeft(daemon.home)).toEqual([]);
});

test("a run that does not match is not adopted, the reason is logged, and its session is recovered", async () => {
  const world = await start();
  const { daemon, runs } = world;
  const format = await findSpawned(world, "format");
  const pid = await findSpawned(world, "pid");
  const fifo = await findSpawned(world, "fifo");
  const mode = await findSpawned(world, "mode");
  const good = await findSpawned(world, "good");
  await daemon.kill("SIGKILL");
  edit(format.run, { format: 999, version: "9.9" });
  edit(pid.run, { pid: process.pid });
  rmSync(join(fifo.run, "in"));
  writeFileSync(join(fifo.run, "in"), "", { mode: 0o600 });
  chmodSync(mode.run, 0o755);
  writeFileSync(join(runs, "note.txt"), "not a run");

  const next = await start(daemon.home);
  for (const { id } of [format, pid, fifo, mode]) {
    await eventually(async () => (await next.http.session(id)).last_result?.subtype).toBe("error");
    const { events } = await next.http.events(id, { limit: 1000 });
    const results = events.filter(({ frame }) => frame["type"] === "agent.result");
    expect(results).toMatchObject([{ frame: { error: { code: "backend_crashed" } } }]);
  }
  expect((await next.http.session(good.id)).activity_state).toBe("working");
  await eventually(async () => listRuns(runs)).toEqual([good.run.slice(runs.length + 1)]);
  await eventually(async () => findLeft(daemon.home).length).toBe(1);
  const log = next.daemon.log();
  for (const reason of [
    /blemeesd 9\.9/,
    /process has ended/,
    /not a FIFO/,
    /accessible to other users/,
    /note\.txt/,
  ])
    expect(log).toMatch(reason);
});

function edit(run: string, over: object): void {
  const path = join(run, "run.json");
  const content = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, JSON.stringify({ ...content, ...over }), { mode: 0o600 });
}
