// `npm run replay`: a recording of a session, step by step.
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { settle, stage, user } from "../sessions/fakes.ts";
import { ROOT } from "../support/root.ts";

const dir = () => mkdtempSync(join(tmpdir(), "blemees-replay-test-"));

function run(...args: string[]) {
  const script = join(ROOT, "scripts/replay.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

async function recording(): Promise<string> {
  const traceDir = dir();
  const on = stage({ traceDir });
  const ann = { id: "ann" };
  await on.open(ann);
  await on.hub.send(ann, "s", user("hello"));
  on.backend.last.result();
  await settle();
  return join(traceDir, "s.jsonl");
}

test("shows input, phase and effects of every step, for people and for programs", async () => {
  const file = await recording();
  const shown = run(file);
  expect(shown).toMatchObject({ status: 0, stderr: "" });
  expect(shown.stdout).toMatch(/started +ready, idle/);
  // Idle once the result is stored.
  expect(shown.stdout).toMatch(/event agent\.result +ready, working .*publish/);
  expect(shown.stdout).toMatch(/written +ready, idle/);
  const steps = run(file, "--json").stdout.trim().split("\n");
  expect(JSON.parse(steps.at(-1) ?? "")).toMatchObject({ state: { phase: { name: "ready" } } });
});

test("says so when the code does not do what was recorded", async () => {
  const file = join(dir(), "old.jsonl");
  const line = { input: { kind: "turn_started", at_ms: 1, id: "x" }, effects: ["give"] };
  writeFileSync(file, `{"row":{"session_id":"s","backend":"x"}}\n${JSON.stringify(line)}\n`);
  expect(run(file)).toMatchObject({ status: 1, stdout: expect.stringContaining("[recorded: give]") });
});

test("what cannot be replayed is one sentence and code 2", () => {
  const other = join(dir(), "other.txt");
  writeFileSync(other, "hello\n");
  expect(run(other)).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/other\.txt: line 1: not a session recording/),
  });
  expect(run("no-such-file")).toMatchObject({ status: 2, stderr: expect.stringContaining("cannot read") });
  expect(run()).toMatchObject({ status: 2, stderr: expect.stringContaining("one file, not 0") });
  expect(run("--wrong", "x")).toMatchObject({ status: 2, stderr: expect.stringContaining("--wrong") });
  expect(run("--help")).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("usage: npm run replay"),
  });
});
