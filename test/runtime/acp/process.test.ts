// `demian acp` as shipped, against a model on loopback: behaviour that needs a separate process.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, watch } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chatReply, type ModelServer, startModelServer, status } from "../../support/model-server.ts";
import { ROOT } from "../../support/root.ts";
import { Place } from "../place.ts";
import { errorOf, Harness, selected } from "./harness.ts";

const PROGRAM = process.env["DEMIAN_PROGRAM"] ?? join(ROOT, "dist/demian.js");
const SLEEP = "echo $$ > pid.txt; echo started; exec sleep 1000";

let place: Place;
let model: ModelServer;
let children: ChildProcessByStdio<Writable, Readable, null>[];

beforeEach(async () => {
  if (!existsSync(PROGRAM)) throw new Error("dist/ is missing: run `npm run build` first");
  place = new Place();
  children = [];
  model = await startModelServer();
  place.configure({
    defaultProvider: "local",
    providers: {
      local: { type: "openai-compatible", model: "the-model", baseURL: `${model.url}/v1`, maxRetries: 0 },
    },
    // A pid in a sandbox is not the one out here.
    sandbox: { mode: "off" },
  });
});

afterEach(async () => {
  for (const child of children.filter(isRunning)) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await place.close();
  await model.close();
});

const isRunning = ({ exitCode, signalCode }: { exitCode: number | null; signalCode: string | null }) =>
  exitCode === null && signalCode === null;

async function start(
  ...flags: string[]
): Promise<{ acp: Harness; child: ChildProcessByStdio<Writable, Readable, null> }> {
  const child = spawn(process.execPath, [PROGRAM, "acp", ...flags], {
    cwd: place.root,
    env: place.env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.on("error", () => undefined);
  children.push(child);
  const acp = new Harness({ child, cwd: place.cwd, home: place.home });
  await acp.initialize();
  return { acp, child };
}

/** The pid of the command, when it runs. */
async function commandPid(): Promise<number> {
  const file = join(place.cwd, "pid.txt");
  const there = () => existsSync(file) && place.read("pid.txt").endsWith("\n");
  if (!there()) {
    const watcher = watch(place.cwd);
    while (!there()) await once(watcher, "change");
    watcher.close();
  }
  return Number(place.read("pid.txt"));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("demian acp", () => {
  test("the flag makes every session one of several agents, and a client may want another one", async () => {
    const { acp } = await start("--multi-agent");
    const modes = [await acp.open(), await acp.open({ agent_mode: "single-agent" })].map(
      ({ _meta }) => _meta,
    );
    expect(modes).toMatchObject([
      { demian: { agentMode: "multi-agent" } },
      { demian: { agentMode: "single-agent" } },
    ]);
  });

  test("edits a file and runs a command, each after it was allowed", async () => {
    place.write("sum.js", "export const sum = (a, b) => a - b;\n");
    model.script(
      chatReply("I will fix it.", [
        { name: "edit_file", input: { path: "sum.js", oldString: "a - b", newString: "a + b" } },
      ]),
      chatReply("", [{ name: "bash", input: { command: "cat sum.js" } }]),
      chatReply("Done."),
    );
    const { acp } = await start();
    const { sessionId } = await acp.open({ env: { BLEMEES_SESSION_ID: "s1" } });
    const answer = await acp.prompt(sessionId, "fix sum.js");
    expect(answer).toMatchObject({
      stopReason: "end_turn",
      usage: { inputTokens: 30, outputTokens: 15, totalTokens: 45 },
    });
    expect(place.read("sum.js")).toContain("a + b");
    const [edit, command] = acp.permissions;
    const path = join(place.cwd, "sum.js");
    expect(edit?.toolCall.content).toMatchObject([
      { type: "diff", path, newText: expect.stringContaining("+ b") },
    ]);
    expect(command?.toolCall).toMatchObject({ kind: "execute", rawInput: { command: "cat sum.js" } });
    const statuses = acp
      .ofKind(sessionId, "tool_call_update")
      .map(({ toolCallId, status: is }) => [toolCallId, is]);
    const [first, second] = acp.ofKind(sessionId, "tool_call").map(({ toolCallId }) => toolCallId);
    expect(statuses.filter(([, is]) => is === "completed")).toEqual([
      [first, "completed"],
      [second, "completed"],
    ]);
    expect(acp.ofKind(sessionId, "usage_update").at(-1)).toMatchObject({ size: 48_000 });
  });

  test("a refused command is not run, and the model is informed", async () => {
    model.script(
      chatReply("", [{ name: "bash", input: { command: "touch made.txt" } }]),
      chatReply("I see."),
    );
    const { acp } = await start();
    const { sessionId } = await acp.open();
    acp.onPermission = () => selected("reject_once");
    expect((await acp.prompt(sessionId, "go")).stopReason).toBe("end_turn");
    expect(existsSync(join(place.cwd, "made.txt"))).toBe(false);
    expect(acp.ofKind(sessionId, "tool_call_update").at(-1)).toMatchObject({ status: "failed" });
    expect(JSON.stringify(model.requests[1]?.body)).toContain("denied");
  });

  test("what the provider refuses is an error, and the session continues", async () => {
    model.script(status(401, { error: { message: "bad key" } }), chatReply("Now."));
    const { acp } = await start();
    const { sessionId } = await acp.open();
    const error = await errorOf(acp.prompt(sessionId, "go"));
    expect(error).toMatchObject({ code: -32000, data: { kind: "auth", status: 401, authMethods: [] } });
    expect((await acp.prompt(sessionId, "again")).stopReason).toBe("end_turn");
  });

  test("session/cancel kills the command that runs, before the prompt is answered", async () => {
    model.script(chatReply("", [{ name: "bash", input: { command: SLEEP } }]));
    const { acp } = await start();
    const { sessionId } = await acp.open({ approvals: false });
    const prompted = acp.prompt(sessionId, "go");
    const pid = await commandPid();
    expect(isAlive(pid)).toBe(true);
    await acp.cancel(sessionId);
    expect((await prompted).stopReason).toBe("cancelled");
    expect(isAlive(pid)).toBe(false);
    expect(acp.permissions).toEqual([]);
    expect(acp.ofKind(sessionId, "tool_call_update").at(-1)).toMatchObject({ status: "failed" });
  });

  test("the end of stdin kills the running command, and the process exits on its own", async () => {
    model.script(chatReply("", [{ name: "bash", input: { command: SLEEP } }]));
    const { acp, child } = await start();
    const { sessionId } = await acp.open({ approvals: false });
    const prompted = acp.prompt(sessionId, "go");
    const pid = await commandPid();
    child.stdin.end();
    await acp.done;
    expect(child.exitCode).toBe(0);
    expect(isAlive(pid)).toBe(false);
    expect((await prompted).stopReason).toBe("cancelled");
  });

  test("after SIGKILL in the middle of a turn it is resumed with everything said until then", async () => {
    model.script(
      chatReply("First.", [{ name: "bash", input: { command: "echo one" } }]),
      chatReply("Second.", [{ name: "bash", input: { command: SLEEP } }]),
    );
    const { acp, child } = await start();
    const { sessionId } = await acp.open({ approvals: false });
    acp.prompt(sessionId, "remember the word heron").catch(() => undefined);
    const pid = await commandPid();
    const second = await start();
    const where = { sessionId, cwd: place.cwd, mcpServers: [] };
    const error = await errorOf(second.acp.agent.request("session/load", where));
    expect(error).toMatchObject({ code: -32600, message: expect.stringContaining(`process ${child.pid}`) });

    child.kill("SIGKILL");
    await once(child, "exit");
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
    model.script(chatReply("It was heron."));
    await second.acp.agent.request("session/load", where);
    const calls = second.acp.ofKind(sessionId, "tool_call_update");
    expect(calls.map((call) => call.status)).toEqual(["completed", "failed"]);
    expect((await second.acp.prompt(sessionId, "which word?")).stopReason).toBe("end_turn");
    const body = model.requests.at(-1)?.body;
    const messages = (body as { messages: { role: string }[] } | undefined)?.messages ?? [];
    expect(messages.map(({ role }) => role).slice(1)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
      "user",
    ]);
    expect(JSON.stringify(messages)).toMatch(/heron.*one.*Not finished/);
  });
});
