// Codex's recorded traffic, through its translator, as rows: the mapping that session managers expect.
import { describe, expect, test } from "vitest";
import { Bench, replayCodex } from "./replays.ts";

const typesOf = (bench: Bench) => bench.tools.map((row) => row.event_type);

describe("the mapping that session managers expect", () => {
  test("a command: requested, decided, run, with exit code and latency", () => {
    const rows = replayCodex("04-command-approval").tools.filter((row) => row.turn_id === "turn1");
    const what = { item_type: "commandExecution", command: "/bin/bash -lc 'touch appr-accept.txt'" };
    expect(rows).toMatchObject([
      { ...what, event_type: "started", phase: "running", cwd: "/home/user/project" },
      { ...what, event_type: "request_approval", phase: "pre", request_id: "req_1" },
      {
        ...what,
        event_type: "approval_decision",
        phase: "post",
        approval_decision: "accept",
        latency_ms: 20,
      },
      {
        ...what,
        event_type: "completed",
        phase: "post",
        exit_code: 0,
        final_status: "success",
        latency_ms: 20,
      },
    ]);
    expect(new Set(rows.map((row) => row.item_id)).size).toBe(1);
    expect(rows.every((row) => row.source_provider === "codex-app")).toBe(true);
  });

  test("a file change: the same, with path and diff", () => {
    const rows = replayCodex("05-filechange-approval").tools.filter((row) => row.turn_id === "turn1");
    const what = {
      item_type: "fileChange",
      file_path: "/home/user/project/p-accept.txt",
      diff_summary: "+2 -0",
    };
    expect(
      rows.map(({ item_type, file_path, diff_summary }) => ({ item_type, file_path, diff_summary })),
    ).toEqual([what, what, what, what]);
    expect(rows.map((row) => row.event_type)).toEqual([
      "started",
      "request_approval",
      "approval_decision",
      "completed",
    ]);
  });

  test("a later patch of the same file counts only its own lines", () => {
    const rows = replayCodex("05-filechange-approval").tools.filter((row) => row.turn_id === "turn5");
    expect(rows.map((row) => row.diff_summary)).toEqual(["+1 -1", "+1 -1"]);
  });

  test("a question: asked and answered", () => {
    const rows = replayCodex("08-request-user-input-plan-mode").tools;
    expect(rows).toMatchObject([
      { event_type: "request_user_input", item_type: "tool", phase: "pre", request_id: "req_1" },
      { event_type: "user_input_submitted", phase: "post", request_id: "req_1", latency_ms: 20 },
    ]);
  });

  test("a sub-agent's command counts, and so do its requests", () => {
    const rows = replayCodex("25-subagent").tools.filter((row) => row.item_type === "commandExecution");
    expect(rows.map((row) => row.event_type)).toEqual([
      "started",
      "request_approval",
      "approval_decision",
      "completed",
    ]);
  });

  test.each([
    ["04-command-approval", "turn2", "cancelled", "declined"],
    ["04-command-approval", "turn3", "cancelled", "cancelled_by_user"],
    ["05-filechange-approval", "turn3", "cancelled", "cancelled_by_user"],
    ["06b-interrupt-command", "turn1", "interrupted", "interrupted"],
    ["40-mcp-approval-and-form", "turn1", "cancelled", "declined"],
  ])("%s, %s: the call ends as %s (%s)", (name, turn_id, end, error_code) => {
    const rows = replayCodex(name).tools.filter((row) => row.turn_id === turn_id);
    expect(rows.at(-1)).toMatchObject({ event_type: end, final_status: end, error_code, phase: "post" });
  });

  test("a failed command reports its exit code", () => {
    const failed = replayCodex("03c-exec-danger-full-access").tools.filter(
      (row) => row.event_type === "failed",
    );
    expect(failed).toMatchObject([{ exit_code: 3, error_code: "exit_code" }]);
  });
});

describe("output while a command runs", () => {
  const printing = (pieces: number, stepMs: number) => {
    const bench = new Bench("codex");
    bench.event({ type: "agent.tool_use", backend: "codex", tool_use_id: "c", name: "shell", input: {} });
    for (let n = 0; n < pieces; n += 1) {
      bench.nowMs += stepMs - 10;
      bench.event({
        type: "agent.notice",
        backend: "codex",
        level: "info",
        category: "tool_output",
        data: { tool_use_id: "c", text: `line ${n}\n` },
      });
    }
    return bench;
  };

  test("is at most one row per second, no matter how much there is", () => {
    // 300 pieces in three seconds.
    const rows = printing(300, 10).tools.filter((row) => row.event_type === "output_delta");
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatchObject({ phase: "running", item_type: "commandExecution", latency_ms: 10 });
  });

  test("says how much there was so far and how it ends", () => {
    const row = printing(2, 1500).tools.at(-1);
    expect(JSON.parse(row?.raw_payload_json ?? "{}")).toMatchObject({ chars: 14, tail: "line 0\nline 1\n" });
  });

  test("of an unknown call makes no row", () => {
    const bench = new Bench("codex");
    const data = { tool_use_id: "unknown", text: "x" };
    bench.frame({ type: "agent.notice", backend: "codex", category: "tool_output", data });
    expect(bench.rows).toEqual([]);
  });
});

describe("the death of the agent", () => {
  test("codex closes its calls before the crash is reported, and they end as failed with its code", () => {
    const bench = replayCodex("30-kill-sigkill");
    const isOpen = typesOf(bench).at(-1) === "started";
    expect(isOpen).toBe(true);
    const error = { code: "backend_crashed", message: "codex app-server was killed (SIGKILL)" };
    bench.frame({ type: "blemeesd.stderr", line: "last words" });
    bench.frame({ type: "blemeesd.error", backend: "codex", ...error });
    bench.event({ type: "agent.result", backend: "codex", subtype: "error", error });
    expect(bench.tools.at(-1)).toMatchObject({
      event_type: "failed",
      phase: "post",
      final_status: "failed",
      error_code: "backend_crashed",
      error_message: error.message,
    });
    expect(bench.turns.at(-1)).toMatchObject({ event_type: "failed", error_code: "backend_crashed" });
    expect(bench.state.held).toEqual([]);
  });

  test("a call without a result ends with the turn", () => {
    const bench = new Bench("claude");
    bench.event({ type: "agent.tool_use", backend: "claude", tool_use_id: "t", name: "Bash", input: {} });
    const error = { code: "backend_crashed", message: "gone" };
    bench.event({ type: "agent.result", backend: "claude", subtype: "error", error });
    expect(bench.tools.at(-1)).toMatchObject({ event_type: "failed", error_code: "backend_crashed" });
    expect(bench.state.calls.size).toBe(0);
  });

  test("a command that continues after a successful turn keeps its start and gets its end", () => {
    const bench = new Bench("codex");
    bench.event({ type: "agent.tool_use", backend: "codex", tool_use_id: "c", name: "shell", input: {} });
    bench.event({ type: "agent.result", backend: "codex", subtype: "success" });
    expect(typesOf(bench)).toEqual(["started"]);
    bench.frame({
      type: "agent.tool_result",
      backend: "codex",
      tool_use_id: "c",
      output: "",
      is_error: false,
    });
    expect(bench.tools.at(-1)).toMatchObject({ event_type: "completed", turn_id: "turn1" });
  });

  test("a crash reported for a turn this daemon never saw ends its open calls", () => {
    const bench = new Bench("codex");
    const error = { code: "backend_crashed", message: "the daemon stopped during this turn" };
    bench.frame({ type: "blemeesd.error", backend: "codex", ...error });
    bench.frame({ type: "agent.result", backend: "codex", subtype: "error", error, turn_id: "old" });
    expect(bench.rows).toMatchObject([
      { kind: "cut", row: { turn_id: "old", error_code: "backend_crashed" } },
      { kind: "turn", row: { turn_id: "old", event_type: "failed" } },
      { kind: "usage", row: { turn_id: "old", agent: "codex" } },
    ]);
  });
});

test("a secret answer is in no row, at any step", () => {
  const bench = new Bench("codex");
  bench.begin();
  const questions = [
    { id: "pin", question: "Your PIN?", is_secret: true },
    { id: "color", question: "Which color?" },
  ];
  const row = bench.ask({
    native_id: "n",
    request_type: "user_input",
    payload: { title: "Your PIN?", questions, choices: [{ decision: "accept" }] },
  });
  bench.answer(row, { answers: { pin: "hunter2", color: "blue" } });
  const text = JSON.stringify(bench.rows);
  expect(text).not.toContain("hunter2");
  expect(text).toContain("[secret]");
  expect(text).toContain("blue");
});

test("each step of a request is one row, even if its row arrives again with the agent's receipt", () => {
  const bench = new Bench("codex");
  bench.begin();
  const payload = { title: "shell: ls", command: "ls", choices: [{ decision: "accept" as const }] };
  const row = bench.ask({ native_id: "n", request_type: "command", payload });
  bench.answer(row, { decision: "accept" });
  bench.request({ ...row, status: "resolved", answer: { decision: "accept" }, dispatched_at_ms: 5 });
  expect(typesOf(bench)).toEqual(["request_approval", "approval_decision"]);
});

test.each([
  ["withdrawn", "cancelled", "request_withdrawn"],
  ["orphaned", "interrupted", "server_restarted"],
] as const)("a request that is %s ends as %s with its code", (status, event_type, error_code) => {
  const bench = new Bench("codex");
  const payload = { title: "shell: ls", choices: [] };
  const row = bench.ask({ native_id: "n", request_type: "command", payload });
  bench.request({ ...row, status, error_code, error_message: "why" });
  expect(bench.tools.at(-1)).toMatchObject({ event_type, error_code, error_message: "why", phase: "post" });
});
