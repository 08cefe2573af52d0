// sm resume after a stop and after a crash of a real daemon: each session that was cut is asked once, others are left alone.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { CONTINUE_TEXT } from "../../../src/cli/blemees/resume-plan.ts";
import { HttpClient, type SpawnBody } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENT } from "../../support/patience.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

let program: BuiltProgram;
beforeAll(() => {
  program = new BuiltProgram("sm");
});
afterAll(() => program.remove());

interface World {
  sm(...args: string[]): Promise<Ran>;
  http: HttpClient;
  ids: Readonly<Record<string, string>>;
  /** The texts that its agent was given since the restart. */
  readGiven(name: string): Promise<string[]>;
  close(): Promise<void>;
}

/** Sessions of all kinds, with a daemon that ended while some were at work, and the next one. */
async function createWorld(signal: "SIGTERM" | "SIGKILL"): Promise<World> {
  const env = { BLEMEESD_SHUTDOWN_GRACE: "0", BLEMEESD_AGENT_STDIO: "pipes" };
  const before = await startDaemon({ env });
  const http = new HttpClient({ socket: before.socket });
  const spawn = async (name: string, body: Partial<SpawnBody>): Promise<string> => {
    const { session } = await http.spawn({ backend: "demo", options: { pace_ms: 0 }, name, ...body });
    return session.session_id;
  };
  const slow = { options: { pace_ms: 10_000 }, prompt: "slowly" };
  const ids = {
    cut: await spawn("cut", slow),
    halted: await spawn("halted", slow),
    interrupted: await spawn("interrupted", slow),
    failed: await spawn("failed", { prompt: "please fail" }),
    done: await spawn("done", { prompt: "hello" }),
  };
  await http.input(ids.halted, { text: "later" });
  await http.stop(ids.halted);
  await http.interrupt(ids.interrupted);
  for (const id of [ids.failed, ids.done, ids.interrupted]) await http.wait(id, { until: ["idle"] });
  await before.kill(signal);
  const after: TestDaemon = await startDaemon({ home: before.home });
  const seqs = new Map((await http.sessions()).map((view) => [view.session_id, view.last_seq]));
  const readGiven = async (name: string): Promise<string[]> => {
    const session_id = ids[name as keyof typeof ids];
    const { events } = await http.events(session_id, { since_seq: seqs.get(session_id) ?? 0, limit: 1000 });
    const delivered = events.filter(({ frame }) => frame["category"] === "input_delivered");
    return delivered.map(({ frame }) => String(frame["text"]));
  };
  const close = async (): Promise<void> => {
    await after.close();
    await before.close();
  };
  return { sm: (...args) => program.run(after.socket, args), http, ids, readGiven, close };
}

describe.each(["SIGTERM", "SIGKILL"] as const)("after %s", (signal) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(signal);
  });
  afterAll(() => world.close());

  test("without --yes it says what it would do, and does nothing", async () => {
    const { code, stdout, stderr } = await world.sm("resume", "--all");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      / cut +ask it to continue; its last message is not repeated +cut: the daemon stopped during/,
    );
    expect(stderr).toMatch(/ failed +ask it to continue.* +failed: this turn failed on request/);
    expect(stderr).not.toMatch(/halted|interrupted +|^\S+ +done +/m);
    expect(stderr).toMatch(
      /Message: Your last turn ended.*\n.*nothing done: add --yes to resume 2 sessions\n$/,
    );
    expect(await world.readGiven("cut")).toEqual([]);
    const { error } = JSON.parse((await world.sm("resume", "--all", "--json")).stderr);
    expect(error.data.plan).toContainEqual({
      session_id: world.ids["cut"],
      kind: "message",
      why: expect.stringContaining("cut"),
    });
  });

  test("a named one with nothing to do is explained", async () => {
    const { code, stderr } = await world.sm("resume", "done,interrupted", "--yes");
    expect(code).toBe(1);
    expect(stderr).toMatch(
      / done +nothing +its last turn succeeded\n.* interrupted +nothing +its turn was interrupted/,
    );
    expect(stderr).toContain("nothing done: no session was cut, failed or is held");
  });

  test("each that was cut or failed is asked once, and nobody else", async () => {
    const { code, stdout } = await world.sm("resume", "--all", "--yes");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/\(cut\): asked to continue$/m),
    });
    for (const name of ["cut", "failed"])
      await vi.waitFor(async () => expect(await world.readGiven(name)).toEqual([CONTINUE_TEXT]), PATIENT);
    for (const name of ["done", "interrupted"]) expect(await world.readGiven(name)).toEqual([]);
    expect((await world.http.queue(world.ids["halted"] ?? "")).queued).toHaveLength(1);
    await world.http.wait(world.ids["failed"] ?? "", { until: ["idle"] });
    expect(await world.sm("resume", "--all", "--yes")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("nothing done: no session was cut, failed or is held"),
    });
  });

  test("a stopped one that is named delivers its queue, and gets no other message", async () => {
    const { code, stdout } = await world.sm("resume", "halted", "--yes", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout).results).toMatchObject([{ ok: true, reply: { kind: "queue" } }]);
    await vi.waitFor(async () => expect(await world.readGiven("halted")).toEqual(["later"]), PATIENT);
  });
});

test("--all with names or flags, and an empty message, are refused", async () => {
  for (const args of [
    ["--all", "x"],
    ["--all", "--failed"],
    ["x", "--message", " "],
  ])
    expect(await program.run("/nowhere.sock", ["--no-start", "resume", ...args])).toMatchObject({ code: 2 });
});
