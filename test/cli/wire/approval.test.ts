// Two terminals: in one an agent asks, in the other the user answers. The built programs, no fakes.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { ROOT } from "../../support/root.ts";
import { removeSessions } from "../../support/sessions.ts";

const PROGRAM = join(ROOT, "dist/blemeesctl.js");

let daemon: TestDaemon;
const children: ChildProcess[] = [];

beforeAll(async () => {
  daemon = await startDaemon();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await removeSessions(daemon);
});
afterAll(() => daemon.close());

interface Running {
  child: ChildProcess;
  /** Resolves when the output so far contains the text. */
  shown(text: string): Promise<void>;
  ended: Promise<{ code: number | null; output: string }>;
}

function start(args: string[], input = ""): Running {
  const env = { PATH: process.env["PATH"], HOME: daemon.home, BLEMEESD_SOCKET: daemon.socket };
  const child = spawn(process.execPath, [PROGRAM, ...args], { env });
  children.push(child);
  let output = "";
  let look: () => void = () => undefined;
  const keep = (chunk: Buffer): void => {
    output += chunk.toString();
    look();
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  child.stdin.end(input);
  return {
    child,
    shown: (text) =>
      new Promise((resolve) => {
        look = () => {
          if (output.includes(text)) resolve();
        };
        look();
      }),
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, output }))),
  };
}

test("run waits until another terminal answers", async () => {
  const run = start(["run", "--backend", "demo", "--answers", "any", "approve"]);
  await run.shown("Answer: blemeesctl accept req_");
  const unnamed = await start(["accept"]).ended;
  expect(unnamed).toMatchObject({ code: 2, output: expect.stringContaining("│ rm -rf build") });
  const [, command = ""] = /^ {2}blemeesctl (accept req_\w+)$/m.exec(unnamed.output) ?? [];
  const answered = await start(command.split(" ")).ended;
  expect(answered).toMatchObject({
    code: 0,
    output: expect.stringContaining("Approved; sent to the agent."),
  });
  const { code, output } = await run.ended;
  expect(code).toBe(0);
  expect(output).toMatch(
    /· request req_\w+: resolved.*It was allowed, so I pretended to run `rm -rf build`\./s,
  );
});

test("the client that asked is gone: the request is still pending, and its answer ends the turn", async () => {
  const run = start(["run", "--backend", "demo", "approve"]);
  await run.shown("Answer: ");
  run.child.kill("SIGKILL");
  await run.ended;
  const listed = await start(["requests"]).ended;
  expect(listed.output).toMatch(/^\? \S+ \(demo\) asks to run a command:\n.*rm -rf build.*Choices:/s);
  const [request_id = ""] = /req_[0-9a-f]{32}/.exec(listed.output) ?? [];
  expect(await start(["decline", request_id, "not", "today"]).ended).toMatchObject({ code: 0 });
  const all = await start(["requests", "--all", "--json"]).ended;
  const { requests } = JSON.parse(all.output) as { requests: object[] };
  expect(requests).toContainEqual(
    expect.objectContaining({
      request_id,
      status: "resolved",
      answer: { decision: "decline", message: "not today" },
      resolution_source: "blemeesctl",
    }),
  );
});

test("a script answers in its own pipe", async () => {
  const script = start([], "open s1 backend=demo\nsend s1 ask\nanswer 1=Blue\nclose s1 --delete\n");
  const { code, output } = await script.ended;
  expect(code).toBe(0);
  expect(output).toMatch(/question 1 .*blemeesd\.responded.*You said Blue\..*blemeesd\.closed/s);
});
