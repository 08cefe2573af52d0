// Two callers that want to continue the same Claude Code session.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lockSession } from "../../../../src/runtime/external/claude-code/session-lock.ts";
import { ClaudeFailure } from "../../../../src/runtime/external/claude-code/transport.ts";
import { RunStage } from "./run-stage.ts";

let stage: RunStage;
beforeEach(() => {
  stage = new RunStage();
});
afterEach(() => stage.close());

describe("36: lock", () => {
  test("a session in which another process is at work is refused with a sentence", async () => {
    await stage.run();
    const free = await lockSession(stage.stateDirectory, [...stage.known][0] ?? "");
    const refused = await stage.run();
    expect(refused).toMatchObject({
      outcome: "failed",
      message: expect.stringMatching(
        /^Claude Code session \S+ is open in process \d+; wait for its turn to end/,
      ),
    });
    expect(stage.orders).toHaveLength(1);
    expect(await stage.run({ sessionLock: false })).toMatchObject({ outcome: "completed" });
    free();
    expect(await stage.run()).toMatchObject({ outcome: "completed" });
  });

  test("a lock that cannot be written costs the lock, not the message", async () => {
    await stage.run();
    const locks = join(stage.stateDirectory, "claude-code-locks");
    rmSync(locks, { recursive: true });
    writeFileSync(locks, "no directory");
    expect(await stage.run()).toMatchObject({ outcome: "completed" });
    expect(stage.resumed).toEqual([undefined, [...stage.known][0]]);
    expect(stage.warnings).toEqual([
      expect.stringMatching(/^could not lock the Claude Code session, so another demian may use it too: /),
    ]);
  });

  test("the lock is held while it works, and free afterwards, however it ended", async () => {
    const locks = () => readdirSync(join(stage.stateDirectory, "claude-code-locks"));
    let during: string[] = [];
    stage.script = async function* (order) {
      yield* stage.answer(order);
      during = locks();
      throw new ClaudeFailure("died", "gone");
    };
    expect(await stage.run()).toMatchObject({ outcome: "failed" });
    expect(during).toEqual([...stage.known]);
    expect(locks()).toEqual([]);
  });
});
