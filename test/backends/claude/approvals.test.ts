// Approvals through a live claude, as far as it can be scripted: the real backend on a fake executable.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createClaudeBackend } from "../../../src/backends/claude/index.ts";
import { silentLog } from "../../../src/base/log.ts";
import type { Answer } from "../../../src/protocol/requests.ts";
import { user } from "../conformance.ts";
import { Recorder } from "../recorder.ts";
import { FAKE_CLAUDE, fakeHome, startFake } from "./fake.ts";

interface Told {
  updatedPermissions: { destination: string }[];
}

async function startAsking(prompt: string, home = fakeHome()) {
  const started = await startFake({ approvals: true }, { home });
  await started.run.send(user(prompt));
  const ask = await started.sink.untilAsk(1);
  const answer = (how: Answer) => started.run.answer?.(ask.native_id, how);
  /** What claude received, once the turn is over. */
  const told = async (how: Answer) => {
    expect(await answer(how)).toBe(true);
    await started.sink.untilResults(1);
    return JSON.parse(started.sink.texts.at(-1) ?? "") as unknown;
  };
  return { ...started, home, ask, answer, told };
}

describe("a session with approvals", () => {
  test("starts claude with the flag, and one without does not", async () => {
    for (const approvals of [true, false]) {
      const { run, sink } = await startFake({ approvals });
      await run.send(user("#argv"));
      await sink.untilResults(1);
      expect(sink.texts.join().includes('"--permission-prompt-tool","stdio"')).toBe(approvals);
      await run.stop("finish");
    }
  });

  test.each([
    ["a claude before 2.1", { FAKE_CLAUDE_VERSION: "2.0.9 (Claude Code)" }, "this is 2.0.9"],
    ["a stub", { FAKE_CLAUDE_PLAIN: "1" }, "this is 9.9.9"],
    [
      "one without a version",
      { FAKE_CLAUDE_FAULT: "version-fails" },
      "this program does not report its version",
    ],
  ])("%s cannot ask, and says so at the start", async (_name, env, found) => {
    await expect(startFake({ approvals: true }, { home: fakeHome(env) })).rejects.toMatchObject({
      code: "spawn_failed",
      message: `approvals require Claude Code 2.1 or newer; ${found}`,
    });
  });

  test.each([
    ["that exists is an overwrite", true, "overwrite"],
    ["that does not exist is a new file", false, "add"],
  ])("a write to a file %s", async (_name, isThere, kind) => {
    const home = fakeHome();
    const file_path = join(home.home, "written.txt");
    if (isThere) writeFileSync(file_path, "before");
    const input = JSON.stringify({ file_path, content: "after" });
    const { run, ask, told } = await startAsking(`#ask-tool Write ${input}`, home);
    expect(ask.payload.changes).toMatchObject([{ path: file_path, kind }]);
    await told({ decision: "decline" });
    await run.stop("finish");
  });

  test("an edited input reaches claude", async () => {
    const { run, told } = await startAsking("#ask mkdir x");
    expect(await told({ decision: "accept", updated_input: { command: "mkdir y" } })).toEqual({
      behavior: "allow",
      updatedInput: { command: "mkdir y" },
    });
    await run.stop("finish");
  });

  test("`always` keeps the rule in a file and for the session; `for the session` keeps nothing that stays", async () => {
    const rule = { type: "addRules", behavior: "allow" };
    const always = await startAsking("#ask mkdir x");
    const kept = (await always.told({ decision: "acceptAlways" })) as Told;
    expect(kept.updatedPermissions).toMatchObject([
      { ...rule, destination: "localSettings" },
      { ...rule, destination: "session" },
    ]);
    await always.run.stop("finish");
    const session = await startAsking("#ask mkdir x");
    const remembered = (await session.told({ decision: "acceptForSession" })) as Told;
    expect(remembered.updatedPermissions).toMatchObject([{ ...rule, destination: "session" }]);
    expect(remembered.updatedPermissions).toHaveLength(1);
    await session.run.stop("finish");
  });

  test("what would be written names the files of this project, and git's own list in a repository", async () => {
    const home = fakeHome();
    const plain = await startAsking("#ask mkdir x", home);
    const writesOf = ({ ask }: typeof plain) =>
      ask.payload.choices.find((choice) => choice.decision === "acceptAlways")?.writes;
    const path = join(home.cwd, ".claude/settings.local.json");
    const content = "permissions.allow += Bash(mkdir x)";
    expect(writesOf(plain)).toEqual([{ path, content }]);
    await plain.run.stop("now");
    execFileSync("git", ["init", "-q", home.cwd]);
    const inGit = await startAsking("#ask mkdir x", home);
    expect(writesOf(inGit)).toMatchObject([
      { path, content },
      { path: join(home.home, ".config/git/ignore") },
    ]);
    await inGit.run.stop("now");
  });

  test("a refusal carries the user's message, and the turn continues", async () => {
    const { run, sink, told } = await startAsking("#ask mkdir x");
    expect(await told({ decision: "decline", message: "use y" })).toEqual({
      behavior: "deny",
      message: "use y",
    });
    expect(sink.results).toMatchObject([{ subtype: "success" }]);
    await run.stop("finish");
  });

  test("cancel refuses and stops the turn", async () => {
    const { run, sink, answer } = await startAsking("#ask mkdir x");
    expect(await answer({ decision: "cancel" })).toBe(true);
    await sink.untilResults(1);
    expect(sink.results).toMatchObject([{ subtype: "interrupted" }]);
    expect(sink.withdrawals).toEqual([]);
    await run.stop("finish");
  });

  test("questions are answered by their texts", async () => {
    const { run, ask, told } = await startAsking("#question");
    expect(ask.payload.questions).toMatchObject([{ id: "Which color?" }, { multi_select: true }]);
    const answers = { "Which color?": "Blue", "Which sizes?": ["S", "L"] };
    expect(await told({ answers })).toMatchObject({
      behavior: "allow",
      updatedInput: { answers: { "Which color?": "Blue", "Which sizes?": "S, L" } },
    });
    await run.stop("finish");
  });

  test("a plan can be sent back with a message", async () => {
    const { run, ask, told } = await startAsking("#plan 1. Do it");
    expect(ask).toMatchObject({ request_type: "plan", payload: { plan: "1. Do it" } });
    expect(await told({ decision: "decline", message: "shorter" })).toEqual({
      behavior: "deny",
      message: "shorter",
    });
    await run.stop("finish");
  });

  test("a sub-agent is named from the root down", async () => {
    const { run, ask } = await startAsking("#ask-sub mkdir x");
    expect(ask.path).toEqual(["general-purpose: outer one", "general-purpose: inner one"]);
    await run.stop("now");
  });

  test("two requests at once are answered in any order, each with its own answer", async () => {
    const { run, sink, ask } = await startAsking("#ask-two mkdir");
    const second = await sink.untilAsk(2);
    expect(await run.answer?.(second.native_id, { decision: "decline", message: "no" })).toBe(true);
    expect(await run.answer?.(ask.native_id, { decision: "accept" })).toBe(true);
    await sink.untilResults(1);
    expect(JSON.parse(sink.texts.at(-1) ?? "")).toMatchObject([
      { behavior: "allow", updatedInput: { command: "mkdir 1" } },
      { behavior: "deny", message: "no" },
    ]);
    await run.stop("finish");
  });
});

describe("a request that comes before claude is ready", () => {
  test("is reported once the start has succeeded, and can be answered", async () => {
    const home = fakeHome({ FAKE_CLAUDE_FAULT: "ask-at-start" });
    const { run, sink } = await startFake({ approvals: true }, { home });
    const ask = await sink.untilAsk(1);
    expect(await run.answer?.(ask.native_id, { decision: "accept" })).toBe(true);
    await sink.untilEvent("agent.message");
    await run.stop("finish");
  });

  test("is not reported if the start fails", async () => {
    const home = fakeHome({ FAKE_CLAUDE_FAULT: "ask-and-die" });
    const backend = createClaudeBackend({ bin: FAKE_CLAUDE, env: home.env });
    const sink = new Recorder();
    const options = backend.checkOptions({ cwd: home.cwd, approvals: true });
    const order = {
      session_id: randomUUID(),
      resume: false,
      began_here: true,
      options,
      generation: "g1",
      env: {},
      log: silentLog,
    };
    await expect(backend.start(order, sink)).rejects.toMatchObject({ code: "spawn_failed" });
    expect(sink.heard).toEqual([]);
  });
});

describe("a request without an answer", () => {
  test("is withdrawn when claude takes it back, and the turn ends by itself", async () => {
    const { run, sink, ask, answer } = await startAsking("#ask-take-back");
    await sink.untilResults(1);
    expect(sink.heard).toContainEqual({
      kind: "withdrawn",
      native_id: ask.native_id,
      reason: "claude cancelled the request",
    });
    expect(await answer({ decision: "accept" })).toBe(false);
    await run.stop("finish");
  });

  test("is withdrawn with an interrupted turn even when claude forgets to say so", async () => {
    const { run, sink, ask, answer } = await startAsking("#ask-mute");
    await run.interrupt();
    expect(sink.results).toMatchObject([{ subtype: "interrupted" }]);
    expect(sink.withdrawals).toEqual([ask.native_id]);
    expect(await answer({ decision: "accept" })).toBe(false);
    await run.stop("finish");
  });

  test("of a sub-agent in the background outlives the turn and can still be answered", async () => {
    const { run, sink, answer } = await startAsking("#ask-background");
    await sink.untilResults(1);
    expect(sink.withdrawals).toEqual([]);
    expect(await answer({ decision: "accept" })).toBe(true);
    await run.stop("finish");
  });

  test("cannot be answered once claude is dead", async () => {
    const { run, sink, ask } = await startAsking("#ask-background #crash-silent 3");
    await sink.untilEnded();
    expect(await run.answer?.(ask.native_id, { decision: "accept" })).toBe(false);
    expect(sink.heard.at(-1)?.kind).toBe("ended");
  });
});
