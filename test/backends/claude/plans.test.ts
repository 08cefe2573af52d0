// The plan of a request to leave plan mode, wherever claude put it.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { Pending } from "../../../src/backends/claude/pending.ts";
import type { Ask } from "../../../src/backends/types.ts";
import { tempDir } from "../temp-dir.ts";
import { readTraces } from "./traces.ts";

const root = tempDir("plans");
const settings = { userSettings: "/u", projectSettings: "/p", localSettings: "/l" };

function listen(configDir = mkdtempSync(join(root, "config-"))) {
  mkdirSync(join(configDir, "plans"), { recursive: true });
  const asks: Ask[] = [];
  const refused: string[] = [];
  const pending = new Pending({
    place: () => ({ cwd: "/cwd", configDir, settings, exists: () => false }),
    ask: (ask) => asks.push(ask),
    withdrawn: () => undefined,
    write: async (line) => void refused.push(line),
  });
  const plan = (name: string) => join(configDir, "plans", name);
  const asked = () => vi.waitFor(() => asks[0]?.payload ?? Promise.reject(new Error("not asked")));
  return { pending, asks, refused, plan, asked };
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
  const { pending, asked } = listen();
  for (const { dir, msg } of readTraces().find((trace) => trace.name === name)?.steps ?? []) {
    if (dir === "in" && msg["type"] === "control_request") pending.take(msg);
    else if (dir === "in") pending.see(msg);
  }
  expect(await asked()).toMatchObject({ plan, title: `Plan: ${plan}` });
});

test("what the model said in the call comes first, then the file that the session wrote last", async () => {
  const said = listen();
  const input = { plan: "said" };
  const content = [{ type: "tool_use", id: "t1", name: "ExitPlanMode", input }];
  writeFileSync(said.plan("a.md"), "written");
  said.pending.see(wrote(said.plan("a.md")));
  said.pending.see({ type: "assistant", message: { content } });
  said.pending.take(REQUEST);
  expect(said.asks[0]?.payload).toMatchObject({ plan: "said", input: {} });
  const written = listen();
  writeFileSync(written.plan("a.md"), "written");
  written.pending.see(wrote(written.plan("a.md")));
  written.pending.take(REQUEST);
  expect(await written.asked()).toMatchObject({ plan: "written", title: "Plan: written" });
});

test("another session's plan is not shown, nor a file that is no plan", () => {
  const { pending, asks, plan } = listen();
  writeFileSync(plan("other.md"), "of another session");
  pending.see(wrote(join(root, "README.md")));
  pending.take(REQUEST);
  expect(asks[0]?.payload).not.toHaveProperty("plan");
});

test("what cannot be read holds up nothing: the request is shown without a plan", async () => {
  for (const make of [
    (path: string) => execFileSync("mkfifo", [path]),
    (path: string) => symlinkSync("/etc/hostname", path),
    (path: string) => mkdirSync(path),
    () => undefined,
  ]) {
    const { pending, plan, asked } = listen();
    make(plan("odd.md"));
    pending.see(wrote(plan("odd.md")));
    pending.take(REQUEST);
    expect(await asked()).not.toHaveProperty("plan");
  }
});

test("a plan longer than a person reads at once is cut, and says where the rest is", async () => {
  const { pending, plan, asked } = listen();
  writeFileSync(plan("long.md"), "x".repeat(300 * 1024));
  pending.see(wrote(plan("long.md")));
  pending.take(REQUEST);
  expect((await asked()).plan).toMatch(/^x+\n… \(the rest is in .*long\.md\)$/);
});

test("a request that is taken back while its plan is read is never asked", async () => {
  const { pending, asks, refused, plan } = listen();
  writeFileSync(plan("a.md"), "written");
  pending.see(wrote(plan("a.md")));
  pending.take(REQUEST);
  pending.take(REQUEST);
  pending.cancel({ request_id: "r1" });
  pending.take({ ...REQUEST, request_id: "r2" });
  pending.withdrawAll("the turn was interrupted");
  expect(refused.join()).toContain("the turn was interrupted");
  pending.take({ ...REQUEST, request_id: "r3" });
  await vi.waitFor(() => expect(asks).not.toEqual([]));
  expect(asks.map(({ native_id }) => native_id)).toEqual(["r3"]);
});
