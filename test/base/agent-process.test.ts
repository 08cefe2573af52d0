import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { AgentProcess } from "../../src/base/agent-process.ts";
import type { ChildExit } from "../../src/base/child.ts";

function open() {
  const ends: { exit: ChildExit; expected: boolean }[] = [];
  const agent = new AgentProcess({
    name: "agent",
    reader: { push: () => undefined, end: () => undefined },
    finishMs: 5000,
    errorLine: () => undefined,
    ended: (exit, expected) => ends.push({ exit, expected }),
  });
  return { agent, ends };
}
const env = { PATH: process.env["PATH"] };
const sleep = { command: "/bin/sleep", args: ["60"], cwd: tmpdir(), env };

test("a stop during the start ends the process that is being started", async () => {
  const { agent, ends } = open();
  const starting = agent.start(sleep);
  await agent.stop("now");
  await starting;
  expect(agent.hasEnded).toBe(true);
  expect(ends).toEqual([{ exit: { signal: "SIGTERM" }, expected: true }]);
  expect(() => execFileSync("kill", ["-0", String(agent.child?.pid)], { stdio: "ignore" })).toThrow();
});

test("a process that another library drives is stopped like any other", async () => {
  const { agent, ends } = open();
  const { process: child, started } = agent.spawn(sleep);
  const exit = new Promise((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
  await started;
  await agent.stop("now");
  expect(await exit).toBe("SIGTERM");
  expect(ends).toHaveLength(1);
});

test("a program that cannot be started rejects with the reason, and a stop is harmless", async () => {
  const { agent, ends } = open();
  const { started } = agent.spawn({ ...sleep, command: "/no/such/program" });
  await expect(started).rejects.toMatchObject({ code: "spawn_failed", data: { reason: "not_found" } });
  await agent.stop("now");
  expect(ends).toHaveLength(1);
});
