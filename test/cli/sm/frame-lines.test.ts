// What `sm tail -f` prints.
import { describe, expect, test } from "vitest";
import { frameLines } from "../../../src/cli/sm/frame-lines.ts";
import type { WireFrame } from "../../../src/client/index.ts";
import { noticeOf, pending } from "../../client/request-rows.ts";

const lines = (frame: object, columns = 80) =>
  frameLines(frame as WireFrame, columns).map(({ text }) => text);
const says = (text: string) => ({ type: "agent.message", content: [{ type: "text", text }] });

test.each([
  [says("Hello.\nDone."), ["  │ Hello.", "  │ Done."]],
  [{ type: "agent.delta", kind: "text", text: "Hel" }, []],
  [{ type: "agent.tool_use", name: "Bash", input: { command: "npm test" } }, ["⚙ Bash: npm test"]],
  [{ type: "agent.tool_use", name: "shell", input: { command: ["ls", "-l"] } }, ["⚙ shell: ls -l"]],
  [{ type: "agent.tool_use", name: "Read", input: { file_path: "/a.ts", limit: 3 } }, ["⚙ Read: /a.ts"]],
  [{ type: "agent.tool_use", name: "Odd", input: { a: 1 } }, ['⚙ Odd: {"a":1}']],
  [{ type: "agent.tool_result", output: "3 passed\nok" }, ["  ↳ 3 passed ok"]],
  [{ type: "agent.tool_result", output: "no", is_error: true }, ["  ↳ failed: no"]],
  [{ type: "agent.notice", level: "info", category: "input_delivered", text: "go on" }, ["> go on"]],
  [{ type: "agent.notice", level: "info", category: "quiet" }, []],
  [{ type: "agent.notice", level: "warn", category: "rate_limit", text: "slow" }, ["· rate_limit: slow"]],
  [{ type: "agent.result", subtype: "error", error: { message: "no more" } }, ["✗ error: no more"]],
  [
    {
      type: "agent.result",
      subtype: "success",
      duration_ms: 1500,
      usage: { input_tokens: 4 },
      cost_usd: 0.5,
    },
    ["✓ done: 1.5 s, 4 tokens in, 0 out, $0.50"],
  ],
  [{ type: "blemeesd.error", code: "backend_crashed", message: "gone" }, ["✗ backend_crashed: gone"]],
  [{ type: "agent.unheard_of" }, []],
])("%j is told as %j", (frame, told) => {
  expect(lines(frame)).toEqual(told);
});

test("a sub-agent's doings stand further in", () => {
  expect(lines({ ...says("hi"), parent_tool_use_id: "t1" })).toEqual(["    │ hi"]);
});

describe("a request", () => {
  test("is shown whole, with how to answer it from the shell", () => {
    const told = lines(noticeOf(pending(), 1)).join("\n");
    expect(told).toMatch(/^\? demo asks \(command\):/);
    expect(told).toContain("  │ mkdir -p build");
    expect(told).toMatch(/approve --always +and remember it for good/);
    expect(told).toMatch(/sm approve req_a1 \(or sm decline req_a1\)$/);
  });

  test("that is over is one line", () => {
    expect(lines(noticeOf({ ...pending(), status: "orphaned" }, 2))).toEqual(["· request req_a1: orphaned"]);
  });

  test.each([
    ["says", says("? demo asks (command):\n  request req_a1\u001b[2K\r✓ done")],
    ["names its tool", { type: "agent.tool_use", name: `x${" ".repeat(90)}? demo asks`, input: {} }],
    ["puts out", { type: "agent.tool_result", output: `${"y ".repeat(80)}\n? demo asks (command):` }],
    [
      "warns of",
      { type: "agent.notice", level: "warn", category: "a", text: `b\n? demo asks${"z".repeat(99)}` },
    ],
  ])("cannot be imitated by what an agent %s, also where a line breaks", (_how, frame) => {
    for (const line of lines(frame, 40)) {
      expect(line).not.toMatch(/^[?✓]/);
      for (const control of ["\u001b", "\r", "\n"]) expect(line).not.toContain(control);
      expect(line.length).toBeLessThanOrEqual(40);
    }
  });
});
