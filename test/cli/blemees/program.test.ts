// sm as users run it, against the real daemon with the demo agent.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SessionView } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { removeSessions } from "../../support/sessions.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";
import { readModulesAtStart } from "../modules-at-start.ts";

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
const sm = (...args: string[]): Promise<Ran> => program.run(daemon.socket, args);
const smIn = (session_id: string, ...args: string[]): Promise<Ran> =>
  program.run("/nowhere.sock", args, "", { BLEMEES_SESSION_ID: session_id, BLEMEES_SOCKET: daemon.socket });
async function spawned(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await sm("spawn", "demo", ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.trim();
}
const view = async (id: string): Promise<SessionView> => JSON.parse((await sm("show", id, "--json")).stdout);
const requestOf = async (id: string): Promise<string> => (await sm("requests", id, "--ids")).stdout.trim();

test("the schemas are not in the program: it starts as fast as Node", async () => {
  const modules = await readModulesAtStart("sm");
  const packages = modules.flatMap((path) => /node_modules\/([^/]+)/.exec(path)?.[1] ?? []);
  expect([...new Set(packages)].sort()).toEqual(["diff", "eventsource-parser", "get-east-asian-width"]);
});

test("a session whose turn failed is listed and counted as failed", async () => {
  const id = await spawned(...QUICK, "please", "fail");
  await sm("wait", id);
  const row = new RegExp(`^${id.slice(0, 8)} .* failed `, "m");
  expect((await sm("all")).stdout).toMatch(row);
  expect(await sm("all", "--state", "failed")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(row),
  });
  const { sessions } = JSON.parse((await sm("status", "--json")).stdout);
  expect(sessions).toMatchObject({ total: 1, failed: 1, idle: 0 });
});

describe("spawn and send", () => {
  test("a session is spawned here, waited for by name, and listed", async () => {
    const id = await spawned(...QUICK, "--name", "first", "say", "hello");
    expect(await sm("wait", "first")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("(first): done"),
    });
    expect(await view(id)).toMatchObject({ name: "first", cwd: process.cwd(), title: "say hello", turns: 1 });
    expect((await sm("ls")).stdout).toMatch(new RegExp(`^${id.slice(0, 8)} +first +demo +idle`, "m"));
    expect(JSON.parse((await sm("all", "--json")).stdout).sessions.length).toBeGreaterThan(0);
  });

  test.each(["file", "stdin"])("the prompt may come from %s", async (from) => {
    const file = join(daemon.home, "task.md");
    writeFileSync(file, "the task\n");
    const args = ["spawn", "demo", ...QUICK, "--wait", ...(from === "file" ? ["--file", file] : [])];
    const { code, stdout } = await program.run(daemon.socket, args, from === "stdin" ? "the task\n" : "");
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('You said: "the task".') });
  });

  test("send --wait prints the answer to its own message and reports a failed turn by the exit code", async () => {
    const id = await spawned(...QUICK, "one");
    const sent = await sm("send", id.slice(0, 13), "--wait", "number", "two");
    expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining('You said: "number two".') });
    expect(sent.stdout).not.toContain("one");
    const failed = await sm("send", id, "-w", "please fail");
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("this turn failed on request") });
  });

  test("a message sent during a turn waits in the queue, can be cancelled, and --now goes first", async () => {
    const id = await spawned("slowly");
    const { stdout } = await sm("send", id, "later", "--json");
    const { message_id } = JSON.parse(stdout).input;
    expect((await sm("queue", id)).stdout).toMatch(new RegExp(`^${message_id} +queued .*later$`, "m"));
    expect(await sm("queue", id, "--cancel", message_id)).toMatchObject({ code: 0 });
    const now = await sm("send", id, "--now", "--wait", "quick");
    expect(now).toMatchObject({ code: 0, stdout: expect.stringContaining('You said: "quick".') });
    expect((await sm("queue", id)).stdout).toMatch(new RegExp(`^${message_id} +cancelled`, "m"));
  });

  test("an unknown agent and a bad option are refused with the daemon's own message", async () => {
    expect(await sm("spawn", "clod", "x")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("clod"),
    });
    const { code, stderr } = await sm("spawn", "demo", "-o", "speed=1", "x", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "invalid_message" } });
  });
});

describe("an agent's request", () => {
  test("blocks the wait and the queue, is shown completely, and is approved by its id", async () => {
    const id = await spawned(...QUICK, "approve it");
    expect(await sm("wait", id)).toMatchObject({ code: 3 });
    const request = await requestOf(id);
    expect(await sm("send", id, "more")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`sm requests ${request}`),
    });
    expect((await sm("requests", request)).stdout).toMatch(/│ rm -rf build.*sm approve req_/s);
    const approved = await sm("approve", request);
    expect(approved).toMatchObject({ code: 0, stdout: "Approved; sent to the agent.\n" });
    expect(approved.stderr).toContain("│ rm -rf build");
    expect(await sm("wait", id)).toMatchObject({ code: 0 });
    expect((await sm("requests", id, "--all")).stdout).toContain("resolved");
  });

  test("is one line of a table, with its age, session, project and what it is", async () => {
    const id = await spawned(...QUICK, "--name", "asker", "approve it");
    await sm("wait", id);
    const request = await requestOf(id);
    const { stdout } = await sm("requests");
    expect(stdout).toMatch(/^AGE +SESSION +PROJECT +REQUEST +WHAT\n/);
    expect(stdout).toMatch(
      new RegExp(`^\\d+s +asker +\\S+ +${request.slice(0, 12)} +run rm -rf build$`, "m"),
    );
    const listed = JSON.parse((await sm("requests", "--json")).stdout);
    expect(listed.requests).toContainEqual(expect.objectContaining({ request_id: request }));
    expect(listed.sessions).toContainEqual(expect.objectContaining({ session_id: id, name: "asker" }));
    // Named by its session, it is shown in full.
    expect((await sm("requests", "asker")).stdout).toMatch(
      /^\? asker \(demo\) in \S+ asks to run a command:\n/,
    );
    await sm("rm", id, "--yes");
  });

  test("is answered by the name of its session, if that has no other", async () => {
    const id = await spawned(...QUICK, "--name", "solo", "approve it");
    await sm("wait", id);
    const request = await requestOf(id);
    // Nobody has seen it: it has to be named, or taken as it is.
    const blind = await sm("approve", "solo");
    expect(blind).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`sm approve ${request} --shown `),
    });
    const approved = await sm("approve", "solo", "--yes");
    expect(approved).toMatchObject({ code: 0, stdout: "Approved; sent to the agent.\n" });
    expect(approved.stderr).toContain("│ rm -rf build");
    await sm("wait", id);
    const none = await sm("decline", "solo");
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("has no pending request") });
    await sm("send", id, "approve it", "--wait");
    expect(await sm("decline", "solo", "not now")).toMatchObject({ code: 0 });
  });

  test("an id prefix that is too short approves nothing, and a bare word is no request", async () => {
    const id = await spawned(...QUICK, "approve it");
    await sm("wait", id);
    const request = await requestOf(id);
    expect(await sm("approve", request.slice(0, 5))).toMatchObject({ code: 2 });
    expect(await sm("approve", "it")).toMatchObject({ code: 2 });
    expect(await sm("approve", request, "--always")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^sm: this request does not offer "approve --always"; it offers: approve, approve --session, decline, /,
      ),
    });
    expect(await sm("approve", request, "--shown", "0000")).toMatchObject({ code: 1 });
    expect(await requestOf(id)).toBe(request);
    expect(await sm("decline", request, "not", "now")).toMatchObject({ code: 0 });
    expect((await sm("tail", id, "-f", "--json", "--socket", "/nowhere.sock", "--no-start")).code).toBe(1);
  });

  test("questions are answered by number, and an agent does not answer its own", async () => {
    const id = await spawned(...QUICK, "ask me");
    await sm("wait", id);
    const request = await requestOf(id);
    expect(await smIn(id, "answer", request, "1=Red")).toMatchObject({ code: 1 });
    expect(await sm("answer", request, "1=Red")).toMatchObject({ code: 0 });
    await sm("wait", id);
    expect((await view(id)).last_result?.text).toContain("You said Red");
  });
});

describe("wait", () => {
  test("exits with 124 on timeout, and with --any at the first", async () => {
    const [slow, quick] = await Promise.all([spawned("slowly"), spawned(...QUICK, "hi")]);
    expect(await sm("wait", slow, "--timeout", "0.01")).toMatchObject({ code: 124 });
    const any = await sm("wait", "--any", "--json", slow, quick);
    expect(any.code).toBe(0);
    expect(JSON.parse(any.stdout).sessions).toMatchObject([{ session: { session_id: quick } }]);
    await sm("stop", slow);
    expect(await sm("wait", slow)).toMatchObject({ code: 4 });
  });

  test("an unknown session is gone", async () => {
    expect(await sm("wait", "nobody")).toMatchObject({ code: 4, stderr: expect.stringContaining("nobody") });
  });
});

describe("inside an agent", () => {
  test("spawn makes children, children shows the own tree, and the wake of a child that was waited for is gone", async () => {
    const parent = await spawned("--name", "boss", "slowly");
    const { stdout } = await smIn(parent, "spawn", "demo", ...QUICK, "--name", "kid", "hello");
    const kid = stdout.trim();
    expect(await view(kid)).toMatchObject({ parent });
    expect(await smIn(parent, "wait", "kid")).toMatchObject({ code: 0 });
    const { queued, recent } = JSON.parse((await sm("queue", parent, "--json")).stdout);
    expect(queued).toEqual([]);
    expect(recent).toEqual(
      expect.arrayContaining([expect.objectContaining({ kind: "wake", state: "cancelled" })]),
    );
    const tree = (await smIn(parent, "children")).stdout;
    expect(tree).toMatch(new RegExp(`^${parent.slice(0, 8)} .*\n└─ ${kid.slice(0, 8)} +kid `, "m"));
    expect(await sm("stop", parent, "--tree")).toMatchObject({ stdout: expect.stringContaining(parent) });
  });
});

describe("steering", () => {
  test("interrupt, name and rm", async () => {
    const id = await spawned("slowly");
    expect(await sm("interrupt", id)).toMatchObject({ code: 0, stdout: "interrupted\n" });
    expect(await sm("wait", id)).toMatchObject({ code: 1 });
    await sm("name", id, "the", "slow one");
    expect((await view("the slow one")).session_id).toBe(id);
    await sm("name", id);
    expect((await view(id)).name).toBeUndefined();
    expect(await sm("rm", id)).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect(await sm("rm", id, "-y")).toMatchObject({ code: 0, stdout: `removed ${id}\n` });
    expect(await sm("show", id)).toMatchObject({ code: 1 });
  });
});

describe("looking", () => {
  test("events are printed one per line, from a cursor, as text and as JSON", async () => {
    const id = await spawned(...QUICK, "use a tool");
    await sm("wait", id);
    const { last_seq } = await view(id);
    const all = (await sm("events", id)).stdout.trimEnd().split("\n");
    expect(all).toHaveLength(last_seq);
    const last = (await sm("events", id, "--since", String(last_seq - 1), "--json")).stdout;
    expect(JSON.parse(last)).toMatchObject({ seq: last_seq, frame: { type: "agent.result" } });
  });

  test("status counts the sessions and lists pending requests", async () => {
    const id = await spawned(...QUICK, "approve it");
    await sm("wait", id);
    const { stdout } = await sm("status");
    expect(stdout).toMatch(/^daemon +blemeesd\//);
    expect(stdout).toContain(await requestOf(id));
    expect(stdout).toMatch(/sessions +\d+: .*1 needs approval/);
    await sm("decline", await requestOf(id));
  });
});

test.each([
  [["spwan", "x"], "did you mean spawn?"],
  [["tail"], "usage: sm tail ID"],
  [["all", "--satte", "idle"], "did you mean --state?"],
  [["all", "--state", "idel"], "did you mean idle?"],
  [["all", "--state", "x9"], 'unknown state "x9"; the states are working, thinking, '],
  [["approve", "x9"], '"x9" is neither a request id (req_…) nor a session; `sm requests` lists them'],
  [["wait", "x", "--timeout", "soon"], "--timeout must be a number"],
  [["spawn", "demo", "--wait"], "--wait needs a prompt"],
])("%j is wrong usage: %s", async (args, help) => {
  expect(await sm(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(help) });
});
