// Two that want to go on with the same session of Claude Code.
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
      message: expect.stringMatching(/of Claude Code is open in process \d+; wait until its turn has ended/),
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
      expect.stringMatching(/^another demian can go on with the same session of Claude Code: /),
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
