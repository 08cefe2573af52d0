// The program as people run it: bundled like the real one, in a process of its own, against a scripted daemon.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { noticeOf, pending, QUESTIONS, resolved, responded } from "../../client/request-rows.ts";
import {
  delta,
  type Json,
  openAnything,
  type Responder,
  result,
  ScriptedServer,
} from "../../client/scripted-server.ts";

let directory: string;
let program: string;
let modules: string[];
let server: ScriptedServer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "blemeesctl-"));
  program = join(directory, "blemeesctl.mjs");
  const entryPoints = ["src/bin/blemeesctl.ts"];
  const built = await build({
    entryPoints,
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    metafile: true,
  });
  modules = Object.keys(built.metafile.inputs);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
beforeEach(async () => {
  server = await ScriptedServer.start(demo);
});
afterEach(() => server.close());

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

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

function run(args: string[], input = ""): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...args], {
      env: { PATH: process.env["PATH"], HOME: directory, BLEMEESD_SOCKET: server.path },
    });
    const ran: Ran = { code: null, stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => {
      ran.stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      ran.stderr += chunk;
    });
    child.on("close", (code) => resolve({ ...ran, code }));
    child.stdin.end(input);
  });
}

test("neither zod nor anything else from npm is in the bundle", () => {
  expect(modules.filter((path) => path.includes("node_modules"))).toEqual([]);
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

test("run streams the answer to stdout and the talk to stderr", async () => {
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
  expect(await run(["run"])).toMatchObject({ code: 2, stderr: expect.stringMatching(/nothing to say/) });
});

test("send resumes the session, and does not take it from somebody else unasked", async () => {
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

test("raw prints what comes back and fails on an error frame", async () => {
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

test("a daemon that is not there fails with what to do, exit 1", async () => {
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

const row = pending();

/** Only the owner may answer; `isAttached` says whether there is one beside us. */
function ledger(said: Json[], isAttached: boolean): Responder {
  let isOwner = false;
  return (frame) => {
    const { type, id, session_id } = frame;
    if (type === "blemeesd.list_requests") {
      const over = { ...resolved(pending({ request_id: "req_old" })), answer: { decision: "decline" } };
      const requests = frame["include_settled"] === true ? [over, row] : [row];
      return [{ type: "blemeesd.requests", id, requests }];
    }
    if (type === "blemeesd.session_info") {
      const info = { session_id, backend: "demo", attached: isAttached, last_seq: 7 };
      return [{ type: "blemeesd.session_info_reply", id, ...info }];
    }
    if (type === "blemeesd.open") isOwner = true;
    if (type !== "blemeesd.respond") return openAnything(frame);
    said.push(frame);
    if (frame["request_id"] === "req_old") return [responded(frame, resolved(row), true)];
    if (isOwner) return [responded(frame, resolved(row))];
    return [{ type: "blemeesd.error", id, session_id, code: "answer_not_allowed", message: "not yours" }];
  };
}

test("requests shows what waits as a whole, and with --all a table of what is over", async () => {
  server.responder = ledger([], false);
  const { stdout } = await run(["requests"]);
  expect(stdout).toMatch(/^\? demo asks \(command\):.*blemeesctl accept req_a1\n$/s);
  expect((await run(["requests", "--ids"])).stdout).toBe("req_a1\n");
  expect((await run(["requests", "--all"])).stdout).toMatch(
    /^REQUEST .*\nreq_old +s1 +resolved .*\n\? demo asks/,
  );
  expect(JSON.parse((await run(["requests", "--json"])).stdout)).toMatchObject({ requests: [row] });
});

test("a detached session's request is answered from the shell, with the hash of what is asked", async () => {
  const said: Json[] = [];
  server.responder = ledger(said, false);
  const { code, stdout, stderr } = await run(["accept"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "accept: the agent has it\n" });
  expect(stderr).toMatch(/^\? demo asks .*answered:\n$/s);
  expect(said.at(-1)).toMatchObject({ answer: { decision: "accept" }, shown_hash: "hash-a1", source: "api" });
});

test("a request of a session that somebody drives is answered only with --take", async () => {
  const said: Json[] = [];
  server.responder = ledger(said, true);
  expect(await run(["decline", "req_a1", "use", "git", "mv"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/add --take/),
  });
  expect(said).toHaveLength(1);
  expect(await run(["decline", "--take", "req_a1", "use", "git", "mv"])).toMatchObject({
    code: 0,
    stderr: "",
  });
  expect(said.at(-1)).toMatchObject({ answer: { decision: "decline", message: "use git mv" } });
});

test("--shown is the hash that the answer is for", async () => {
  const said: Json[] = [];
  server.responder = ledger(said, false);
  await run(["accept", "req_a1", "--shown", "older"]);
  expect(said.at(-1)).toMatchObject({ shown_hash: "older" });
});

test("an answer that came too late because another was there first fails, and says which", async () => {
  server.responder = ledger([], false);
  expect(await run(["decline", "req_old"])).toMatchObject({
    code: 1,
    stdout: "answered before: accept (api)\n",
  });
  expect(await run(["accept", "req_old"])).toMatchObject({ code: 0 });
});

test("an answer that nobody shall see in a list of processes comes from stdin", async () => {
  const said: Json[] = [];
  const asks = pending({ payload: QUESTIONS, request_type: "user_input" });
  server.responder = (frame) => {
    const { type, id } = frame;
    if (type === "blemeesd.list_requests") return [{ type: "blemeesd.requests", id, requests: [asks] }];
    said.push(frame);
    return [responded(frame, resolved(asks))];
  };
  expect(await run(["answer", "1=Red", "2=-"], '"s3cret" = x\n')).toMatchObject({ code: 0 });
  expect(said).toMatchObject([{ answer: { answers: { "Which colour?": "Red", q2: '"s3cret" = x' } } }]);
});

test("an answer to nothing is a usage error", async () => {
  server.responder = ({ id }) => [{ type: "blemeesd.requests", id, requests: [] }];
  expect(await run(["accept"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/nothing waits for an answer/),
  });
});

test("run shows a request on stderr and goes on when it was answered elsewhere", async () => {
  server.responder = (frame) =>
    frame["type"] === "agent.user"
      ? [row, resolved(row)]
          .map((state, at) => noticeOf({ ...state, session_id: String(frame["session_id"]) }, at + 1))
          .concat(result(String(frame["session_id"]), 3))
      : openAnything(frame);
  const { code, stderr } = await run(["run", "-q", "--answers", "any", "approve"]);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^\? demo asks .*choices:.*answer it with: blemeesctl accept req_a1\n$/s);
  expect(await run(["run", "--answers", "all", "x"])).toMatchObject({ code: 2 });
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
    stderr: expect.stringMatching(/from event 5 on.*closed/s),
  });
});
