// The program as users run it, against a scripted daemon.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { delta, openAnything, type Responder, result, ScriptedServer } from "../../client/scripted-server.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";
import { readModulesAtStart } from "../modules-at-start.ts";

let program: BuiltProgram;
let server: ScriptedServer;

beforeAll(() => {
  program = new BuiltProgram();
});
afterAll(() => program.remove());
beforeEach(async () => {
  server = await ScriptedServer.start(demo);
});
afterEach(() => server.close());

const run = (args: string[], input = ""): Promise<Ran> => program.run(server.path, args, input);

const demo: Responder = (frame) => {
  const { type, id, session_id, message } = frame;
  const sid = String(session_id);
  if (type === "agent.user") {
    const { content } = message as { content: string };
    return [delta(sid, 1, `you said ${content}`), result(sid, 2, content === "fail" ? "error" : "success")];
  }
  if (type === "blemeesd.ping") return [{ type: "blemeesd.pong", id }];
  if (type === "blemeesd.session_info") {
    return [
      {
        type: "blemeesd.session_info_reply",
        id,
        session_id,
        backend: "demo",
        attached: sid === "busy",
        last_seq: 0,
      },
    ];
  }
  if (type === "blemeesd.list_sessions") {
    return [
      {
        type: "blemeesd.sessions",
        id,
        sessions: [{ session_id: "s1", backend: "demo", attached: true, last_seq: 1 }],
      },
    ];
  }
  return openAnything(frame);
};

test("the bundle contains no npm packages but diff and the table of wide characters", async () => {
  const modules = await readModulesAtStart("blemeesctl");
  const packages = modules.flatMap((path) => /node_modules\/([^/]+)/.exec(path)?.[1] ?? []);
  expect([...new Set(packages)].sort()).toEqual(["diff", "get-east-asian-width"]);
});

test("--version and --help print to stdout and exit 0", async () => {
  expect(await run(["--version"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^blemeesctl \S+\n$/),
  });
  expect(await run(["--help"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^usage: blemeesctl/),
  });
  expect(await run(["run", "--help"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^usage: blemeesctl run/),
  });
});

test("run streams the answer to stdout and everything else to stderr", async () => {
  const { code, stdout, stderr } = await run(["run", "--backend", "demo", "hi"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "you said hi\n" });
  expect(stderr).toMatch(/^· demo session [0-9a-f-]{36}\n✓ done\n$/);
});

test("run takes the prompt from a pipe, and fails when the turn does", async () => {
  expect(await run(["run", "-q"], "piped")).toMatchObject({
    code: 0,
    stdout: "you said piped\n",
    stderr: "",
  });
  expect(await run(["run", "-q", "fail"])).toMatchObject({ code: 1, stderr: "✗ error\n" });
});

test("run without a prompt is a usage error", async () => {
  expect(await run(["run"])).toMatchObject({ code: 2, stderr: expect.stringMatching(/no prompt/) });
});

test("send resumes the session, and does not take it from another client without --take", async () => {
  expect(await run(["send", "s1", "hello", "there"])).toMatchObject({
    code: 0,
    stdout: "you said hello there\n",
  });
  expect(await run(["send", "busy", "x"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/add --take/),
  });
  expect(await run(["send", "--take", "busy", "x"])).toMatchObject({ code: 0, stdout: "you said x\n" });
});

test("--json prints the reply as one line", async () => {
  const { stdout } = await run(["sessions", "--live", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ type: "blemeesd.sessions" });
  expect((await run(["sessions"])).stdout).toMatch(/^SESSION.*\ns1 /);
  expect((await run(["sessions", "--ids"])).stdout).toBe("s1\n");
});

test("raw prints the replies and fails on an error frame", async () => {
  server.responder = (frame) => [
    { type: "blemeesd.error", id: frame["id"], code: "unknown_message", message: "?" },
  ];
  expect(await run(["raw", '{"type":"x","id":"1"}'])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/unknown_message/),
  });
});

test("a wrong verb or flag is named with the nearest good one, exit 2", async () => {
  expect(await run(["stauts"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/did you mean status/),
  });
  expect(await run(["status", "--jsno"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/did you mean --json/),
  });
});

test("a missing daemon fails with what to do, exit 1", async () => {
  const { code, stderr } = await run(["--socket", `${server.path}.none`, "status"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^blemeesctl: no daemon at .*; start one with `blemeesd`/);
});

test("verbs from a pipe are answered before the program ends", async () => {
  const { code, stdout } = await run([], "open s1 backend=demo\nsend s1 hi\nping\n");
  expect(code).toBe(0);
  expect(stdout).toMatch(/connected.*opened.*agent\.result.*/s);
  expect(stdout).toContain("blemeesd.pong");
});

test("watch streams until the session is closed", async () => {
  server.responder = ({ id, session_id }) => [
    { type: "blemeesd.watching", id, session_id, last_seq: 4 },
    delta("s1", 5, "live"),
    { type: "blemeesd.session_closed", session_id, reason: "owner_closed" },
  ];
  expect(await run(["watch", "s1"])).toMatchObject({
    code: 0,
    stdout: "live\n",
    stderr: expect.stringMatching(/from event 5;.*closed/s),
  });
});

test("a script on a pipe gives up on a daemon that does not answer, and fails", async () => {
  server.responder = () => [];
  // Its timeout is 20 s: its intervals run 500 times as fast here.
  const fast =
    "const real = setInterval; globalThis.setInterval = (wake, ms, ...more) => real(wake, ms / 500, ...more);";
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(fast)}`;
  const { code, stdout, stderr } = await program.run(server.path, [], "status\n", { NODE_OPTIONS });
  expect(stdout + stderr).toContain("no answer from the daemon for 20 s; it may need a restart");
  expect(code).toBe(1);
});
