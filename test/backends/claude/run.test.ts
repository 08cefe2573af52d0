// A live claude, as far as it can be scripted: the real backend on a fake executable.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findByEnvironment, killAll } from "../../../src/base/descendants.ts";
import { user } from "../conformance.ts";
import { isRunning, pidIn } from "../processes.ts";
import { FAKE_CLAUDE, fakeHome, startFake } from "./fake.ts";

/** A tool command whose real work leaves the shell: a killed shell does not take it along. */
const leaver = (file: string) => `(setsid sh -c 'echo $$ > ${file}; exec sleep 1000' &); sleep 1000`;

describe("start", () => {
  test.each([
    ["an id that is no UUID", { session_id: "not-a-uuid" }, "Invalid session ID"],
    ["a foreign id that claude does not know", { resume: true, began_here: false }, "No conversation found"],
  ])("%s is refused with claude's own message, and nothing is reported", async (_name, over, words) => {
    await expect(startFake({}, over)).rejects.toMatchObject({
      code: "spawn_failed",
      message: expect.stringContaining(words),
    });
  });

  test("a claude that dies without a word is refused all the same", async () => {
    const home = fakeHome({ FAKE_CLAUDE_FAULT: "silent-exit" });
    await expect(startFake({}, { home })).rejects.toMatchObject({ code: "spawn_failed" });
  });

  test("a missing program says what to set", async () => {
    await expect(startFake({}, { bin: "no-claude-here" })).rejects.toMatchObject({
      code: "spawn_failed",
      message: "no-claude-here not found on PATH; set --claude or BLEMEESD_CLAUDE",
    });
  });

  test("a cwd that does not exist is named", async () => {
    await expect(startFake({ cwd: "/no/such/dir" })).rejects.toThrow("/no/such/dir does not exist");
  });

  test("a session that began here but was never stored begins with --session-id", async () => {
    const { run, sink, order } = await startFake({}, { resume: true, began_here: true });
    await run.send(user("#argv"));
    await sink.untilResults(1);
    expect(sink.texts.join()).toContain(`"--session-id","${order.session_id}"`);
    await run.stop("finish");
  });

  test("the order's variables reach claude, those of a claude around the daemon do not", async () => {
    const home = fakeHome({ CLAUDECODE: "1", CLAUDE_CODE_CHILD_SESSION: "1" });
    const { run, sink } = await startFake({}, { home, env: { BLEMEES_SESSION_ID: "s1" } });
    await run.send(user("#env BLEMEES_SESSION_ID #env CLAUDECODE #env CLAUDE_CODE_CHILD_SESSION"));
    await sink.untilResults(1);
    expect(sink.texts).toEqual(["s1", "undefined", "undefined"]);
    await run.stop("finish");
  });

  test("a stub that is not Claude Code gets no control frame: every line is a turn to it", async () => {
    const home = fakeHome({ FAKE_CLAUDE_PLAIN: "1" });
    const { run, sink } = await startFake({}, { home });
    await run.send(user("#context"));
    await sink.untilResults(1);
    expect(sink.texts).toEqual(['["#context"]']);
    await run.stop("finish");
  });
});

describe("context", () => {
  test("a crash keeps what was said: the next process resumes it", async () => {
    const home = fakeHome();
    const first = await startFake({}, { home });
    await first.run.send(user("#say one"));
    await first.sink.untilResults(1);
    await first.run.send(user("#sigkill"));
    await first.sink.untilEnded();
    const { session_id } = first.order;
    const second = await startFake({}, { home, session_id, resume: true });
    await second.run.send(user("#context"));
    await second.sink.untilResults(1);
    expect(second.sink.texts).toEqual(['["#say one","#sigkill","#context"]']);
    await second.run.stop("finish");
  });

  test("after /clear the new native id is reported, and a resume with it finds the new conversation", async () => {
    const home = fakeHome();
    const first = await startFake({}, { home });
    await first.run.send(user("#say before"));
    await first.sink.untilResults(1);
    await first.run.send(user("/clear"));
    await first.sink.untilResults(2);
    const told = first.sink.heard.find((heard) => heard.kind === "nativeId");
    const id = told?.kind === "nativeId" ? told.id : "";
    expect(first.sink.events.findLast((event) => event.type === "agent.system_init")).toMatchObject({
      native_session_id: id,
    });
    await first.run.stop("finish");
    const { session_id } = first.order;
    const second = await startFake({}, { home, session_id, native_session_id: id, resume: true });
    await second.run.send(user("#context"));
    await second.sink.untilResults(1);
    expect(second.sink.texts).toEqual(['["/clear","#context"]']);
    await second.run.stop("finish");
  });
});

describe("turns that claude begins", () => {
  test("one is announced before its events and ends with its own result", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#bg 20"));
    await sink.untilResults(2);
    const order = sink.heard.map((heard) => (heard.kind === "event" ? heard.event.type : heard.kind));
    expect(order.indexOf("turnStarted")).toBeGreaterThan(order.indexOf("agent.result"));
    expect(order.lastIndexOf("agent.result")).toBeGreaterThan(order.indexOf("turnStarted"));
    expect(order.filter((kind) => kind === "turnStarted")).toHaveLength(1);
    await run.stop("finish");
  });

  test("a message that is folded into such a turn gets that turn's result as its own, and no other", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#bgtool 20 sleep 0.2; echo done"));
    await sink.until(({ events }) => events.some((event) => event.type === "agent.tool_use"));
    await run.send(user("and this"));
    await sink.untilResults(2);
    expect(sink.texts.at(-1)).toContain("folded: and this");
    await run.interrupt();
    expect(sink.results).toHaveLength(2);
    await run.stop("finish");
  });
});

describe("interrupt", () => {
  test("during text: the result says interrupted, the process stays", async () => {
    const { run, sink } = await startFake({ include_partial_messages: true });
    await run.send(user("#slow 1000 20"));
    await sink.untilEvent("agent.delta");
    await run.interrupt();
    expect(sink.results).toMatchObject([{ subtype: "interrupted" }]);
    await run.send(user("#say still here"));
    await sink.untilResults(2);
    expect(sink.ends).toEqual([]);
    await run.stop("finish");
  });

  test("after the turn: running sub-agents are stopped, the process stays", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#async"));
    await sink.untilResults(1);
    expect(run.isBusy).toBe(true);
    await run.interrupt();
    expect(run.isBusy).toBe(false);
    await sink.until(({ heard }) => heard.some(({ kind }) => kind === "calmed"));
    await run.send(user("#say still here"));
    await sink.untilResults(2);
    expect(sink.ends).toEqual([]);
    await run.stop("finish");
  });

  test("of a turn with background sub-agents ends with the turn's result, not with theirs", async () => {
    const { run, sink } = await startFake({ include_partial_messages: true });
    await run.send(user("#async #slow 1000 20"));
    await sink.untilEvent("agent.delta");
    await run.interrupt();
    expect(sink.results).toMatchObject([{ subtype: "interrupted" }]);
    expect(run.isBusy).toBe(false);
    await run.stop("finish");
  });

  test.skipIf(process.platform !== "linux")(
    "during a tool: what left the tool's shell is ended",
    async () => {
      const home = fakeHome();
      const file = join(home.home, "pid");
      const { run, sink } = await startFake({}, { home });
      await run.send(user(`#tool ${leaver(file)}`));
      const pid = await pidIn(file);
      await run.interrupt();
      expect(sink.results).toMatchObject([{ subtype: "interrupted" }]);
      expect(isRunning(pid)).toBe(false);
      await run.stop("finish");
    },
  );

  test.skipIf(process.platform !== "linux")(
    "what an earlier turn detached stays, until the session stops",
    async () => {
      const home = fakeHome();
      const file = join(home.home, "server");
      const { run, sink } = await startFake({}, { home });
      await run.send(user(`#orphan sh -c 'echo $$ > ${file}; exec sleep 1000'`));
      await sink.untilResults(1);
      const pid = await pidIn(file);
      // Start times count in steps of 10 ms: the turns must lie further apart, as they do with a real model.
      await run.send(user("#slow 3 20"));
      await sink.untilResults(2);
      await run.send(user("#hang"));
      await run.interrupt();
      expect(isRunning(pid)).toBe(true);
      await run.stop("finish");
      expect(isRunning(pid)).toBe(false);
    },
  );

  test.skipIf(process.platform !== "linux")(
    "control: without the sweep it would be left behind",
    async () => {
      const home = fakeHome();
      const file = join(home.home, "left");
      const env = { ...home.env, BLEMEES_RUN_ID: randomUUID() };
      const bare = spawn(FAKE_CLAUDE, ["-p", "--session-id", randomUUID()], { env, cwd: home.cwd });
      bare.stdin.write(`${JSON.stringify({ type: "user", message: user(`#tool ${leaver(file)}`) })}\n`);
      const pid = await pidIn(file);
      const gone = new Promise((resolve) => bare.once("exit", resolve));
      bare.kill("SIGKILL");
      await gone;
      expect(isRunning(pid)).toBe(true);
      await killAll(await findByEnvironment("BLEMEES_RUN_ID", (value) => value === env.BLEMEES_RUN_ID), 0);
      expect(isRunning(pid)).toBe(false);
    },
  );

  test.each(["#deaf", "#ack-only", "#ignore-term #deaf"])(
    "%s: a claude that does not obey is ended",
    async (text) => {
      const { run, sink } = await startFake();
      const { pid = 0 } = run;
      await run.send(user(text));
      await sink.untilEvent("agent.system_init");
      await run.interrupt();
      expect(sink.ends).toMatchObject([{ expected: true }]);
      expect(isRunning(pid)).toBe(false);
    },
  );

  test("it gets through although the reader is stalled", async () => {
    const { run, sink } = await startFake({ include_partial_messages: true });
    await run.send(user("#flood 200000 200"));
    await sink.untilEvent("agent.delta");
    run.pause();
    const interrupted = run.interrupt();
    run.pause();
    await interrupted;
    expect(sink.results).toMatchObject([{ subtype: "interrupted" }]);
    await run.stop("now");
  });
});

describe("requests of claude", () => {
  test("an unknown request gets an error answer, so that claude does not wait forever", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#control frobnicate"));
    await sink.untilResults(1);
    expect(sink.texts.at(-1)).toContain("unsupported control request: frobnicate");
    await run.stop("finish");
  });
});
