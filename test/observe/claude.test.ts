// Claude Code's recorded traffic, through its translator, as rows.
import { describe, expect, test } from "vitest";
import { Bench, replayClaude } from "./replays.ts";

const shape = (bench: Bench) =>
  bench.tools.map(({ event_type, item_type, phase, command, file_path, diff_summary }) => ({
    event_type,
    item_type,
    phase,
    ...(command === undefined ? {} : { command }),
    ...(file_path === undefined ? {} : { file_path }),
    ...(diff_summary === undefined ? {} : { diff_summary }),
  }));

const pair = (call: object, end = "completed") => [
  { event_type: "started", phase: "running", ...call },
  { event_type: end, phase: "post", ...call },
];

describe("calls", () => {
  test("with partial messages a call is announced without its input, and is one pair of rows that has it", () => {
    const bench = replayClaude("07-tool-bash-allowed");
    const command = "echo hello-$((1+1)) && ls -d /proc/self";
    expect(shape(bench).slice(0, 2)).toEqual(pair({ item_type: "commandExecution", command }));
    const started = bench.tools.filter((row) => row.event_type === "started");
    expect(new Set(started.map((row) => row.item_id)).size).toBe(started.length);
    expect(started).toHaveLength(4);
    expect(started[1]).toMatchObject({ tool_name: "Read", item_type: "tool" });
  });

  test("without them a call is in a message and in an event, and is still one pair of rows", () => {
    const bench = replayClaude("12-control-interrupt-tool");
    expect(bench.tools.map((row) => row.event_type)).toEqual(["started", "interrupted"]);
  });

  test("calls that run in parallel each end with their own latency", () => {
    const bench = replayClaude("07-tool-bash-allowed");
    const ends = bench.tools.filter((row) => row.phase === "post" && row.turn_id === "turn3");
    expect(ends.map(({ command, latency_ms }) => [command, latency_ms])).toEqual([
      ["echo AA", 50],
      ["echo BB", 20],
    ]);
  });

  test("edits and writes are file changes, with the lines they add and remove", () => {
    const changes = shape(replayClaude("56-approval-of-file-changes")).filter(
      ({ item_type }) => item_type === "fileChange",
    );
    const item_type = "fileChange";
    expect(changes).toEqual([
      ...pair({ item_type, file_path: "/home/user/project/new.txt", diff_summary: "+2" }),
      ...pair({ item_type, file_path: "/home/user/project/old.txt", diff_summary: "+1 -1" }),
    ]);
  });

  test("a sub-agent's calls are counted, and name the call that started the sub-agent", () => {
    const bench = replayClaude("54-approval-of-nested-agent");
    const [outer, inner] = bench.tools.filter((row) => row.event_type === "started");
    expect([outer?.tool_name, inner?.tool_name]).toEqual(["Agent", "Agent"]);
    const { parent_tool_use_id } = JSON.parse(inner?.raw_payload_json ?? "{}");
    expect(parent_tool_use_id).toBe(outer?.item_id);
    expect(bench.tools.filter((row) => row.event_type === "completed")).toHaveLength(2);
  });

  test("a call that was announced but never made leaves no row", () => {
    const bench = new Bench("claude");
    bench.event({
      type: "agent.tool_use",
      backend: "claude",
      tool_use_id: "t1",
      name: "Bash",
      input: {},
      index: 1,
    });
    bench.event({ type: "agent.result", backend: "claude", subtype: "success" });
    expect(bench.tools).toEqual([]);
    expect(bench.state.calls.size).toBe(0);
  });
});

describe("ends", () => {
  const ended = (output: string, over: object = {}) => {
    const bench = new Bench("claude");
    const call = { tool_use_id: "t1", name: "Bash", input: { command: "make" } };
    bench.event({ type: "agent.tool_use", backend: "claude", ...call });
    const result = { tool_use_id: "t1", output, is_error: true, ...over };
    bench.event({ type: "agent.tool_result", backend: "claude", ...result });
    return bench;
  };

  test("a failed command reports its exit code", () => {
    expect(ended("Exit code 2\nmake: no rule").tools.at(-1)).toMatchObject({
      event_type: "failed",
      exit_code: 2,
      error_code: "exit_code",
      error_message: "Exit code 2\nmake: no rule",
    });
  });

  test("a successful one reports none: claude treats some nonzero codes as success", () => {
    const row = ended("fine", { is_error: false }).tools.at(-1);
    expect(row).toMatchObject({ event_type: "completed", final_status: "success" });
    expect(row).not.toHaveProperty("exit_code");
  });

  test("a command that ran too long is a timeout", () => {
    expect(ended("Exit code 143\nCommand timed out after 2m 0s").tools.at(-1)).toMatchObject({
      event_type: "timeout",
      final_status: "timeout",
      exit_code: 143,
    });
  });

  test("an interrupt and a refusal look the same to claude's tool, but are distinguished", () => {
    const { tools, turns } = replayClaude("12-control-interrupt-tool");
    expect(tools.at(-1)).toMatchObject({ event_type: "interrupted", final_status: "interrupted" });
    expect(turns.find((row) => row.final_status !== undefined)).toMatchObject({ event_type: "interrupted" });
  });

  test.each([
    ["decline", "cancelled", "declined", "completed"],
    ["cancel", "cancelled", "cancelled_by_user", "cancelled"],
  ] as const)("%s ends the call as %s (%s) and the turn as %s", (decision, end, error_code, turn) => {
    const bench = new Bench("claude");
    const call = { tool_use_id: "t1", name: "Bash", input: { command: "rm -rf build" } };
    bench.event({ type: "agent.tool_use", backend: "claude", ...call });
    const row = bench.ask({
      native_id: "n",
      request_type: "command",
      item_id: "t1",
      payload: { title: "Bash: rm -rf build", command: "rm -rf build", choices: [{ decision }] },
    });
    bench.answer(row, { decision });
    const output = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    bench.event({ type: "agent.tool_result", backend: "claude", tool_use_id: "t1", output, is_error: true });
    const subtype = decision === "cancel" ? "interrupted" : "success";
    bench.event({ type: "agent.result", backend: "claude", subtype });
    expect(bench.tools.at(-1)).toMatchObject({ event_type: end, final_status: end, error_code });
    expect(bench.turns.at(-1)).toMatchObject({ event_type: turn });
  });

  test("an unanswered request makes the call a timeout", () => {
    const bench = new Bench("claude");
    const call = { tool_use_id: "t1", name: "Bash", input: { command: "make" } };
    bench.event({ type: "agent.tool_use", backend: "claude", ...call });
    const payload = { title: "Bash: make", choices: [{ decision: "decline" as const }] };
    const row = bench.ask({ native_id: "n", request_type: "command", item_id: "t1", payload });
    const error = { error_code: "request_expired", error_message: "not answered in time" };
    bench.request({ ...row, status: "expired", answer: { decision: "decline" }, ...error });
    bench.event({
      type: "agent.tool_result",
      backend: "claude",
      tool_use_id: "t1",
      output: "no",
      is_error: true,
    });
    expect(bench.tools.slice(-2)).toMatchObject([
      { event_type: "timeout", request_id: "req_1", approval_decision: "decline", ...error },
      { event_type: "timeout", error_code: "request_expired", item_id: "t1" },
    ]);
  });
});

describe("turns", () => {
  test("each has a start, its messages, and an end with time, tokens and cost", () => {
    const { turns } = replayClaude("56-approval-of-file-changes");
    expect(turns.slice(0, 3)).toMatchObject([
      { turn_id: "turn1", event_type: "started", origin: "user" },
      { turn_id: "turn1", event_type: "message" },
      {
        turn_id: "turn1",
        event_type: "completed",
        final_status: "success",
        duration_ms: 146,
        input_tokens: 20,
        output_tokens: 40,
        cost_usd: 0.0011425,
      },
    ]);
  });

  test.each([
    ["20-err-429", "rate_limited"],
    ["53-max-budget", "max_budget"],
  ])("the failed turn of %s has code %s", (name, error_code) => {
    const failed = replayClaude(name).turns.find((row) => row.event_type === "failed");
    expect(failed).toMatchObject({ final_status: "failed", error_code });
  });
});
