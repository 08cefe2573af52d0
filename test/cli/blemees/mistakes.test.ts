// How sm handles mistakes of users and agents, against the real daemon with the demo agent.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { removeSessions } from "../../support/sessions.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

let program: BuiltProgram;
let daemon: TestDaemon;
beforeAll(async () => {
  program = new BuiltProgram("sm");
  daemon = await startDaemon();
});
afterEach(() => removeSessions(daemon));
afterAll(async () => {
  await daemon.close();
  program.remove();
});

const QUICK = ["-o", "pace_ms=0"];
const SLOW = ["-o", "pace_ms=1000"];
const sm = (...args: string[]): Promise<Ran> => program.run(daemon.socket, args);
const smIn = (session_id: string, ...args: string[]): Promise<Ran> =>
  program.run("/nowhere.sock", args, "", { BLEMEES_SESSION_ID: session_id, BLEMEES_SOCKET: daemon.socket });
const spawned = async (...args: string[]): Promise<string> =>
  (await sm("spawn", "demo", ...args)).stdout.trim();
const queuedOf = async (id: string): Promise<unknown[]> =>
  JSON.parse((await sm("queue", id, "--json")).stdout).queued;

describe("an agent that would wait for its own turn", () => {
  test.each([
    [["wait"], [], "end the turn"],
    [["send"], ["more", "--wait"], "send without --wait"],
  ])("is refused by %j, and nothing is sent", async (before, behind, todo) => {
    const id = await spawned(...SLOW, "slowly");
    const { code, stderr } = await smIn(id, ...before, id, ...behind);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(todo) });
    expect(stderr).toContain("this agent's own session");
    expect(await queuedOf(id)).toEqual([]);
    expect(await smIn(id, "send", id, "later")).toMatchObject({ code: 0 });
    await sm("rm", id, "-y");
  });
});

describe("BLEMEES_SESSION_ID", () => {
  test.each([
    ["a\nb", ["all"], 2],
    ["nobody", ["children"], 1],
    ["nobody", ["spawn", "demo", "hi"], 1],
  ])("%j is named when %j fails for it", async (id, args, code) => {
    const ran = await smIn(id, ...args);
    expect(ran).toMatchObject({ code, stderr: expect.stringContaining("BLEMEES_SESSION_ID") });
    expect(ran.stderr).not.toContain("header content");
  });

  test.each(["somebody", "nobody"])("is not blamed for %s that was typed", async (typed) => {
    const { stderr } = await smIn("nobody", "show", typed);
    expect(stderr).toContain(typed);
    expect(stderr).not.toContain("BLEMEES_SESSION_ID");
  });
});

describe("arguments that start with a dash", () => {
  test("after two dashes a session called -x is found, and such a text is sent", async () => {
    const id = await spawned(...QUICK, "--name", "-x", "hi");
    expect(JSON.parse((await sm("show", "--json", "--", "-x")).stdout).session_id).toBe(id);
    expect(await sm("send", id, "- item")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("put -- before it"),
    });
    const sent = await sm("send", "--wait", id, "--", "- item");
    expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining('You said: "- item".') });
  });
});

describe("the wrong session", () => {
  test.each([["rm", "-y"], ["stop"]])("is not hit by %s with one letter of an id", async (...args) => {
    const id = await spawned(...QUICK, "hi");
    const [verb = "", ...flags] = args;
    const { code, stderr } = await sm(verb, id.slice(0, 1), ...flags);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("at least 4 characters") });
    expect(await sm("show", id)).toMatchObject({ code: 0 });
    expect(await sm(verb, id.slice(0, 20), ...flags)).toMatchObject({ code: 0 });
  });

  test("a second session of the same name is reported when it is spawned, unless the first is stopped", async () => {
    const first = await spawned(...QUICK, "--name", "twin", "hi");
    const second = await sm("spawn", "demo", ...QUICK, "--name", "twin", "hi");
    expect(second).toMatchObject({ code: 0, stderr: expect.stringContaining(first.slice(0, 8)) });
    for (const id of [first, second.stdout.trim()]) await sm("stop", id);
    const third = await sm("spawn", "demo", ...QUICK, "--name", "twin", "hi");
    expect(third).toMatchObject({ code: 0, stderr: "" });
  });
});

test("queue --clear removes all queued messages", async () => {
  const id = await spawned(...SLOW, "slowly");
  for (const text of ["one", "two"]) await sm("send", id, text);
  const ids = (await sm("queue", id, "--ids")).stdout.trim().split("\n");
  expect(ids).toHaveLength(2);
  const { stdout } = await sm("queue", id, "--clear", "--json");
  expect(JSON.parse(stdout)).toEqual({ cancelled: ids });
  expect(await queuedOf(id)).toEqual([]);
  expect(await sm("queue", id, "--clear")).toMatchObject({ code: 0, stderr: "The queue is empty\n" });
  expect(await sm("queue", id, "--clear", "--cancel", "x")).toMatchObject({ code: 2 });
  await sm("rm", id, "-y");
});

test("tail -n 0 prints nothing, not that nothing was done", async () => {
  const id = await spawned(...QUICK, "use a tool");
  await sm("wait", id);
  expect(await sm("tail", id, "-n", "0")).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("an unknown request fails like an unknown session", async () => {
  expect(await sm("approve", "req_00000000")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no request req_00000000"),
  });
});

test("for a request id that is too short, the required length is shown", async () => {
  const id = await spawned(...QUICK, "approve it");
  await sm("wait", id);
  const request = (await sm("requests", id, "--ids")).stdout.trim();
  const length = Number(
    /at least (\d+) characters/.exec((await sm("approve", request.slice(0, 5))).stderr)?.[1],
  );
  expect(await sm("approve", request.slice(0, length - 1))).toMatchObject({ code: 2 });
  expect(await sm("approve", request.slice(0, length))).toMatchObject({ code: 0 });
});

test.each([
  [["help", "spwan"], "did you mean spawn?", "sm --help"],
  [["tail"], "usage: sm tail ID", "sm help tail"],
  [["ls", "--satte", "x"], "did you mean --state?", "sm help all"],
  [["all", "--socket", ""], "--socket needs the path", "sm help all"],
])(
  "%j is wrong usage, as text with where to read more and as one JSON document",
  async (args, told, more) => {
    const { code, stderr } = await sm(...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(told) });
    expect(stderr).toContain(`Try '${more}'.`);
    const asJson = await sm("--json", ...args);
    expect(asJson).toMatchObject({ code: 2, stdout: "" });
    expect(JSON.parse(asJson.stderr)).toEqual({
      error: { code: "usage", message: expect.stringContaining(told) },
    });
  },
);

test("two dashes may precede any argument", async () => {
  expect((await sm("help", "--", "tail")).stdout).toMatch(/^usage: sm tail/);
  expect((await sm("completion", "--", "bash")).stdout).toContain("complete -o default");
  expect((await sm("--", "help", "tail")).stdout).toMatch(/^usage: sm tail/);
});

test("an unknown command is one JSON document too, and --json after two dashes is text", async () => {
  expect(JSON.parse((await sm("spwan", "x", "--json")).stderr)).toMatchObject({ error: { code: "usage" } });
  expect((await sm("spwan", "--", "--json")).stderr).toMatch(/^sm: unknown command: spwan/);
});

test.each(["file", "directory"])("a %s is no socket, and no daemon is started there", async (what) => {
  const path = join(daemon.home, "run", what);
  if (what === "file") writeFileSync(path, "");
  else mkdirSync(path, { recursive: true });
  const { code, stderr } = await sm("all", "--socket", path);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining(`${path} is a ${what}, not a socket`),
  });
});
