import { describe, expect, test } from "vitest";
import type { PermissionGate } from "../../src/runtime/permissions/gate.ts";
import { groupCalls, MAX_PARALLEL } from "../../src/runtime/tool-group.ts";
import { Stage, testTool } from "./stage.ts";

const ask = (...names: string[]) => ({ toolCalls: names.map((name) => ({ name, input: { name } })) });
const toCall = (name: string, index: number) => ({ id: String(index), name, input: {} });

/** Each waits until all of them have begun, so it can only end if they run at the same time. */
function createMeeting(names: readonly string[]) {
  let begun = 0;
  let open: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  return names.map((name) =>
    testTool({
      name,
      execute: async () => {
        begun += 1;
        if (begun === names.length) open();
        await all;
        return { ok: true, content: name };
      },
    }),
  );
}

describe("calls of one answer", () => {
  test("that change nothing run at the same time, and their results keep the model's order", async () => {
    const names = ["a", "b", "c"];
    const stage = new Stage({ replies: [ask(...names), { text: "done" }], tools: createMeeting(names) });
    expect(await stage.run("go")).toMatchObject({ outcome: "completed" });
    expect(stage.answers).toEqual(names);
  });

  test("are grouped: a call that changes something runs alone, between those around it", () => {
    const tools = [
      testTool({ name: "read" }),
      testTool({ name: "write", sideEffect: "workspace" }),
      testTool({ name: "run", sideEffect: "process" }),
    ];
    const calls = ["read", "read", "write", "read", "run", "run", "missing", "read"].map(toCall);
    const groups = groupCalls({ tools }, calls).map((group) => group.map(({ name }) => name));
    expect(groups).toEqual([["read", "read"], ["write"], ["read"], ["run"], ["run"], ["missing"], ["read"]]);
  });

  test("never run more than the limit at once", () => {
    const calls = Array.from({ length: 20 }, (_, index) => toCall("read", index));
    const sizes = groupCalls({ tools: [testTool({ name: "read" })] }, calls).map(({ length }) => length);
    expect(sizes).toEqual([MAX_PARALLEL, MAX_PARALLEL, 4]);
  });

  test("are decided one by one: the second question comes after the first answer", async () => {
    const log: string[] = [];
    const decide: PermissionGate["decide"] = async ({ tool }) => {
      log.push(`asked ${tool}`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`answered ${tool}`);
      return { allowed: true, by: "user", always: false };
    };
    const stage = new Stage({ replies: [ask("a", "b")], tools: createMeeting(["a", "b"]), decide });
    await stage.run("go");
    expect(log).toEqual(["asked a", "answered a", "asked b", "answered b"]);
  });

  test("are not asked about once the user has stopped the turn, and each still has a result", async () => {
    const asked: string[] = [];
    const decide: PermissionGate["decide"] = async ({ tool }) => {
      asked.push(tool);
      return { allowed: false, by: "user", always: false, stop: true };
    };
    const tools = ["a", "b", "c"].map((name) => testTool({ name }));
    const stage = new Stage({ replies: [ask("a", "b", "c")], tools, decide });
    expect(await stage.run("go")).toMatchObject({ outcome: "denied" });
    expect(asked).toEqual(["a"]);
    expect(stage.answers).toHaveLength(3);
    expect(stage.answers.at(-1)).toBe("Not run: the user stopped the turn.");
  });

  test("that fail do not end the others", async () => {
    const failing = testTool({ name: "bad", execute: () => Promise.reject(new Error("no")) });
    const stage = new Stage({
      replies: [ask("bad", "echo"), { text: "ok" }],
      tools: [failing, testTool()],
    });
    await stage.run("go");
    expect(stage.answers).toEqual(["Failed: no", 'got {"name":"echo"}']);
  });
});
