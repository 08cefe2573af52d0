// Tool calls: how they begin, their output, and how they end.
import { describe, expect, test } from "vitest";
import type { ToolEntry } from "../../../src/client/view/types.ts";
import { call, ended, type Frame, message, notice, result, viewOf, withFrames } from "./view-inputs.ts";

const tools = (...frames: Frame[]) =>
  viewOf(frames).entries.filter((entry): entry is ToolEntry => entry.kind === "tool");
const LS = call("t", "Bash", { command: "ls" });

describe("a call", () => {
  test("and its result are one entry with both times", () => {
    expect(viewOf([LS, result("t", "a.ts\n")]).entries).toEqual([
      {
        id: "1",
        seq: 1,
        at_ms: 10,
        depth: 0,
        kind: "tool",
        tool_use_id: "t",
        name: "Bash",
        title: "ls",
        input: { command: "ls" },
        status: "done",
        output: "a.ts\n",
        ended_at_ms: 20,
      },
    ]);
  });

  test("that is announced before its input gets it in pieces, then completely from the message", () => {
    const piece = (partial_json: string): Frame => ({
      type: "agent.delta",
      kind: "tool_input",
      partial_json,
      index: 1,
    });
    const view = viewOf([call("t", "Edit", {}, { index: 1 }), piece('{"file_path":'), piece('"/a"')]);
    expect(view.entries).toMatchObject([{ partialInput: '{"file_path":"/a"', input: {}, title: "" }]);
    const input = { file_path: "/a", old_string: "x", new_string: "y" };
    const [tool] = withFrames(view, message([{ type: "tool_use", id: "t", name: "Edit", input }])).entries;
    expect(tool).toMatchObject({ input, title: "/a", changes: [{ path: "/a", diff: "@@\n-x\n+y" }] });
    expect(tool).not.toHaveProperty("partialInput");
  });

  test("whose message never came has the input of its pieces", () => {
    const piece: Frame = {
      type: "agent.delta",
      kind: "tool_input",
      partial_json: '{"command":"ls"}',
      index: 0,
    };
    const [tool] = tools(call("t", "Bash", {}, { index: 0 }), piece, result("t", ""));
    expect(tool).toMatchObject({ input: { command: "ls" }, title: "ls", status: "done" });
  });

  test("in the message and then on its own is one", () => {
    const told = message([{ type: "tool_use", id: "t", name: "Bash", input: { command: "ls" } }]);
    expect(tools(told, LS)).toHaveLength(1);
    expect(tools(LS, told)).toHaveLength(1);
  });

  test("with the id of one that has ended is another one", () => {
    const frames = [LS, result("t", "1"), call("t", "Bash", { command: "pwd" }), result("t", "2")];
    expect(tools(...frames)).toMatchObject([
      { title: "ls", output: "1" },
      { title: "pwd", output: "2" },
    ]);
  });

  test("without a result is unknown when the turn ends, and known again when its result comes late", () => {
    const view = viewOf([LS, ended()]);
    expect(view.entries[0]).toMatchObject({ status: "unknown" });
    expect(withFrames(view, result("t", "late")).entries[0]).toMatchObject({
      status: "done",
      output: "late",
    });
    const late = notice("late_result", { data: { tool_use_id: "t", output: "no", is_error: true } });
    expect(withFrames(view, late).entries[0]).toMatchObject({ status: "failed", output: "no" });
  });

  test("that was never seen has its result shown", () => {
    expect(tools(result("t", "x"))).toMatchObject([{ name: "tool", title: "", output: "x", status: "done" }]);
  });

  test("that starts a sub-agent names it, however it is reported", () => {
    const started = notice("subagent_started", {
      text: "x",
      data: { agent: "reviewer" },
      parent_tool_use_id: "t",
    });
    expect(tools(call("t", "Agent", { subagent_type: "explorer" }))[0]?.agent).toBe("explorer");
    expect(tools(call("t", "delegate_agent", { task: "x" }), started)[0]?.agent).toBe("reviewer");
    const below = call("u", "Bash", {}, { parent_tool_use_id: "t" });
    expect(tools(call("t", "odd", { a: 1 }), below).map(({ agent }) => agent)).toEqual(["agent", undefined]);
  });
});

test("a sub-agent of demian is shown from start to end, below the call that started it", () => {
  const below = { parent_tool_use_id: "d" };
  const data = { path: ["reviewer"], agent: "reviewer", provider: "p", model: "m" };
  const view = viewOf([
    call("d", "delegate_agent", { agent: "reviewer", task: "look" }),
    notice("subagent_started", { text: "reviewer: p/m", data, ...below }),
    { type: "agent.delta", kind: "text", text: "Look", item_id: "text-2", ...below },
    message([{ type: "text", text: "Looking." }], below),
    call("b", "bash", { command: "npm test" }, below),
    result("b", "[exit code 1]", { is_error: true, ...below }),
    notice("subagent_finished", {
      text: "reviewer: success",
      data: { ...data, subtype: "success" },
      ...below,
    }),
    result("d", "It fails."),
  ]);
  expect(view.entries).toMatchObject([
    { kind: "tool", title: "look", agent: "reviewer", status: "done", depth: 0 },
    { kind: "notice", category: "subagent_started", parent: "d", depth: 1 },
    { kind: "text", text: "Looking.", isOpen: false, depth: 1 },
    { kind: "tool", title: "npm test", exit_code: 1, status: "failed", depth: 1 },
    { kind: "notice", category: "subagent_finished", depth: 1 },
  ]);
});

describe("output", () => {
  test.each([
    ["text", "text"],
    [[{ type: "text", text: "a" }, { type: "image" }, { type: "text", text: "b" }], "a\n[image]\nb"],
    [{ thread_id: "x" }, '{\n  "thread_id": "x"\n}'],
    [[1, 2], "[\n  1,\n  2\n]"],
  ])("%j is shown as %j", (output, shown) => {
    expect(tools(LS, result("t", output))[0]?.output).toBe(shown);
  });

  test("arrives in pieces; the result is all of it", () => {
    const piece = (text: string): Frame => notice("tool_output", { data: { tool_use_id: "t", text } });
    const view = viewOf([LS, piece("a\n"), piece("b\n")]);
    expect(view.entries).toMatchObject([{ output: "a\nb\n", status: "running" }]);
    expect(withFrames(view, result("t", "all")).entries).toMatchObject([{ output: "all" }]);
    expect(withFrames(view, result("t", undefined)).entries).toMatchObject([{ output: "a\nb\n" }]);
  });

  test("that progresses is the newest progress", () => {
    const progress = (content: string): Frame =>
      notice("tool_progress", { data: { tool_use_id: "t", content } });
    expect(tools(LS, progress("1"), progress("1 2"))[0]?.output).toBe("1 2");
  });

  test("from a later input, or better known ones, replace the earlier", () => {
    const input = notice("tool_input", { data: { tool_use_id: "t", input: { command: "ls -l" } } });
    expect(tools(LS, input)[0]).toMatchObject({ title: "ls -l", input: { command: "ls -l" } });
    const changes = [{ path: "a", kind: { type: "update" }, diff: "@@ -1 +1 @@\n-a\n+b" }];
    const patch = notice("tool_input", { data: { tool_use_id: "t", changes } });
    expect(tools(call("t", "apply_patch", {}), patch)[0]?.changes).toEqual([
      { ...changes[0], kind: "update" },
    ]);
  });
});

describe("the exit code", () => {
  test.each([
    ["Bash", "Exit code 2\nno", true, 2],
    ["shell", "x\n[exit code 3]", true, 3],
    ["bash", "[no output; exit code 143: SIGTERM]", true, 143],
    ["bash", "fine\n[exit code 0]", false, 0],
    ["Bash", "I print [exit code 7]", false, undefined],
    ["Read", "x\n[exit code 3]", true, undefined],
    ["Bash", "no", true, undefined],
  ])("of %s with %j (failed: %s) is %s", (name, output, is_error, code) => {
    const [tool] = tools(call("t", name, { command: "x" }), result("t", output, { is_error }));
    expect(tool).toMatchObject({ status: is_error ? "failed" : "done" });
    expect(tool?.exit_code).toBe(code);
  });
});
