// The plan of a request to leave plan mode, wherever claude put it.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Ask } from "../../../src/backends/types.ts";
import { tempDir } from "../temp-dir.ts";
import { openPending } from "./pending-channel.ts";
import { readTraces } from "./traces.ts";

const root = tempDir("plans");
const settings = { userSettings: "/u", projectSettings: "/p", localSettings: "/l" };

function listen(configDir = mkdtempSync(join(root, "config-"))) {
  mkdirSync(join(configDir, "plans"), { recursive: true });
  const asks: Ask[] = [];
  const refused: string[] = [];
  const { pending, take } = openPending({
    place: () => ({
      cwd: "/cwd",
      configDir,
      settings,
      disk: { exists: () => false, readText: () => undefined },
    }),
    ask: (ask) => asks.push(ask),
    withdrawn: () => undefined,
    write: async (line) => void refused.push(line),
  });
  const plan = (name: string) => join(configDir, "plans", name);
  const asked = () => vi.waitFor(() => asks[0]?.payload ?? Promise.reject(new Error("not asked")));
  return { pending, take, asks, refused, plan, asked };
}

const REQUEST = {
  type: "control_request",
  request_id: "r1",
  request: { subtype: "can_use_tool", tool_name: "ExitPlanMode", input: {}, tool_use_id: "t1" },
};
const wrote = (filePath: string) => ({ type: "user", tool_use_result: { type: "create", filePath } });

test.each([
  ["70-plan-in-call", "1. Paint it blue."],
  ["71-plan-in-file", "1. Paint it green."],
])("as recorded with 2.1.325: %s", async (name, plan) => {
  const { take, asked } = listen();
  for (const { dir, msg } of readTraces().find((trace) => trace.name === name)?.steps ?? []) {
    if (dir === "in") take(msg);
  }
  expect(await asked()).toMatchObject({ plan, title: `Plan: ${plan}` });
});

test("the plan in the call comes first, then the file that the session wrote last", async () => {
  const said = listen();
  const input = { plan: "said" };
  const content = [{ type: "tool_use", id: "t1", name: "ExitPlanMode", input }];
  writeFileSync(said.plan("a.md"), "written");
  said.take(wrote(said.plan("a.md")));
  said.take({ type: "assistant", message: { content } });
  said.take(REQUEST);
  expect(said.asks[0]?.payload).toMatchObject({ plan: "said", input: {} });
  const written = listen();
  writeFileSync(written.plan("a.md"), "written");
  written.take(wrote(written.plan("a.md")));
  written.take(REQUEST);
  expect(await written.asked()).toMatchObject({ plan: "written", title: "Plan: written" });
});

test("another session's plan is not shown, nor a file that is no plan", () => {
  const { take, asks, plan } = listen();
  writeFileSync(plan("other.md"), "of another session");
  take(wrote(join(root, "README.md")));
  take(REQUEST);
  expect(asks[0]?.payload).not.toHaveProperty("plan");
});

test("what cannot be read holds up nothing: the request is shown without a plan", async () => {
  for (const make of [
    (path: string) => execFileSync("mkfifo", [path]),
    (path: string) => symlinkSync("/etc/hostname", path),
    (path: string) => mkdirSync(path),
    () => undefined,
  ]) {
    const { take, plan, asked } = listen();
    make(plan("odd.md"));
    take(wrote(plan("odd.md")));
    take(REQUEST);
    expect(await asked()).not.toHaveProperty("plan");
  }
});

test("a plan that is too long is cut, and says where the rest is", async () => {
  const { take, plan, asked } = listen();
  writeFileSync(plan("long.md"), "x".repeat(300 * 1024));
  take(wrote(plan("long.md")));
  take(REQUEST);
  expect((await asked()).plan).toMatch(/^x+\n… \(the rest is in .*long\.md\)$/);
});

test("a request that is taken back while its plan is read is never asked", async () => {
  const { pending, take, asks, refused, plan } = listen();
  writeFileSync(plan("a.md"), "written");
  take(wrote(plan("a.md")));
  take(REQUEST);
  take(REQUEST);
  take({ type: "control_cancel_request", request_id: "r1" });
  take({ ...REQUEST, request_id: "r2" });
  pending.withdrawAll("the turn was interrupted");
  expect(refused.join()).toContain("the turn was interrupted");
  take({ ...REQUEST, request_id: "r3" });
  await vi.waitFor(() => expect(asks).not.toEqual([]));
  expect(asks.map(({ native_id }) => native_id)).toEqual(["r3"]);
});
