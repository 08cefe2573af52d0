// A claude process that outlives its daemon.
// lane: process
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClaudeBackend } from "../../../src/backends/claude/index.ts";
import { newLives } from "../adoption.ts";
import { FAKE_CLAUDE, fakeHome } from "./fake.ts";

test("its adoption starts no program to find what was found at its start", async () => {
  const lives = newLives();
  const { home, cwd, env } = fakeHome();
  const seen = join(home, "git-ran");
  writeFileSync(join(home, "git"), `#!/bin/sh\ntouch "${seen}"\necho "~/ignored"\n`, { mode: 0o755 });
  const daemon = () =>
    createClaudeBackend({
      bin: FAKE_CLAUDE,
      runs: lives.runs,
      env: { ...env, PATH: `${home}:${env["PATH"]}` },
    });
  const session = await lives.open(daemon(), { cwd, approvals: true });
  expect(existsSync(seen)).toBe(true);
  rmSync(seen);
  lives.die();

  await lives.adopt(daemon(), [session]);
  await session.send("#ask make");
  const ask = await session.sink.untilAsk(1);
  expect(await session.answer(ask.native_id, { decision: "accept" })).toBe(true);
  await session.sink.untilResults(1);
  expect(existsSync(seen)).toBe(false);
});
