// A call that was requested and never allowed did not run, however it ended; and waiting for an answer is not work.
import { describe, expect, test } from "vitest";
import { toAction } from "../../src/observe/actions.ts";
import type { RequestRow } from "../../src/protocol/requests.ts";
import { Bench } from "./replays.ts";

const CUT = {
  type: "agent.tool_result",
  backend: "claude",
  tool_use_id: "t1",
  output: "interrupted",
} as const;
const REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected.";

/** A bench where `make` waits for permission, and its request. */
function asked(name = "Bash", input: unknown = { command: "make" }): { bench: Bench; row: RequestRow } {
  const bench = new Bench("claude");
  bench.event({ type: "agent.tool_use", backend: "claude", tool_use_id: "t1", name, input });
  const payload = { title: "Bash: make", command: "make", choices: [{ decision: "accept" as const }] };
  return { bench, row: bench.ask({ native_id: "n", request_type: "command", item_id: "t1", payload }) };
}

function finish(bench: Bench, output: string, is_error = true): void {
  bench.event({ ...CUT, output, is_error });
}

const lastCall = (bench: Bench) => {
  const row = bench.tools.findLast(({ request_id }) => request_id === undefined);
  if (row === undefined) throw new Error("no call");
  return { row, action: toAction({ kind: "tool", row }) };
};

describe("a call did not run when", () => {
  test.each([
    ["it was declined", "decline", REJECTED, "cancelled", "declined"],
    ["it was declined and the turn stopped", "cancel", REJECTED, "cancelled", "declined"],
    ["it was declined as the agent reports it", "decline", "The user rejected it", "cancelled", "declined"],
  ] as const)("%s", (_name, decision, output, status, not_run) => {
    const { bench, row } = asked();
    bench.answer(row, { decision });
    finish(bench, output);
    expect(lastCall(bench).action).toMatchObject({
      status,
      not_run,
      summary_text: "asked to run `make` (not run: declined)",
    });
  });

  test("the request timed out", () => {
    const { bench, row } = asked();
    bench.request({ ...row, status: "expired", answer: { decision: "decline" } });
    finish(bench, "no");
    expect(lastCall(bench).action).toMatchObject({ status: "timeout", not_run: "expired" });
  });

  test.each([
    ["the agent withdrew the request", "withdrawn", "Tool permission request failed"],
    ["the request was withdrawn before the turn ended well", "withdrawn", undefined],
  ] as const)("%s", (_name, status, output) => {
    const { bench, row } = asked();
    bench.request({ ...row, status });
    if (output !== undefined) finish(bench, output);
    bench.event({ type: "agent.result", backend: "claude", subtype: "success" });
    expect(lastCall(bench).action).toMatchObject({ status: "cancelled", not_run: "withdrawn" });
  });

  test("an approval came too late: the agent had withdrawn its request", () => {
    const { bench, row } = asked();
    bench.answer(row, { decision: "accept" });
    bench.request({ ...row, status: "withdrawn", answer: { decision: "accept" } });
    finish(bench, "interrupted");
    bench.event({ type: "agent.result", backend: "claude", subtype: "interrupted" });
    expect(lastCall(bench).action).toMatchObject({ not_run: "interrupted" });
  });

  test.each([
    ["before its request is withdrawn", false],
    ["after its request is withdrawn", true],
  ])("the turn was interrupted, %s", (_name, isFirst) => {
    const { bench, row } = asked();
    if (isFirst) bench.request({ ...row, status: "withdrawn" });
    finish(bench, REJECTED);
    bench.event({ type: "agent.result", backend: "claude", subtype: "interrupted" });
    if (!isFirst) bench.request({ ...row, status: "withdrawn" });
    expect(lastCall(bench).action).toMatchObject({
      status: "interrupted",
      not_run: "interrupted",
      summary_text: "asked to run `make` (not run: interrupted)",
    });
  });

  test.each([
    ["with a result for the open call", true],
    ["without one", false],
  ])("the agent died, %s", (_name, hasResult) => {
    const { bench, row } = asked();
    if (hasResult) finish(bench, "interrupted");
    const error = { code: "backend_crashed", message: "killed by SIGKILL" };
    bench.frame({ type: "blemeesd.error", ...error });
    bench.event({ type: "agent.result", backend: "claude", subtype: "error", error });
    bench.request({ ...row, status: "orphaned" });
    expect(lastCall(bench)).toMatchObject({
      row: { error_code: "backend_crashed", error_message: "killed by SIGKILL" },
      action: { status: "failed", not_run: "agent_died" },
    });
  });

  test("claude's own rules denied it without a request", () => {
    const bench = new Bench("claude");
    bench.event({ type: "agent.tool_use", backend: "claude", tool_use_id: "t1", name: "Bash", input: {} });
    finish(bench, "Permission to use Bash has been denied because Claude Code is running in don't ask mode.");
    expect(lastCall(bench).action).toMatchObject({ status: "cancelled", not_run: "declined" });
  });
});

describe("a call ran when", () => {
  test("it was allowed, however it ended", () => {
    const { bench, row } = asked();
    bench.answer(row, { decision: "accept" });
    finish(bench, "interrupted");
    bench.event({ type: "agent.result", backend: "claude", subtype: "interrupted" });
    expect(lastCall(bench).action).toMatchObject({ summary_text: "ran `make` (interrupted)" });
    expect(lastCall(bench).action).not.toHaveProperty("not_run");
  });

  test("one of its two requests was allowed", () => {
    const { bench, row } = asked();
    bench.answer(row, { decision: "accept" });
    const again = bench.ask({ native_id: "m", request_type: "command", item_id: "t1", payload: row.payload });
    bench.answer(again, { decision: "decline" });
    finish(bench, "Exit code 1");
    expect(lastCall(bench).action).toMatchObject({ summary_text: "ran `make` (exit 1)" });
  });

  test("its agent reports success, whatever the answer was", () => {
    const { bench, row } = asked();
    bench.answer(row, { decision: "decline" });
    finish(bench, "fine", false);
    expect(lastCall(bench).action).toMatchObject({ status: "success", summary_text: "ran `make`" });
  });
});

describe("waiting for an answer", () => {
  test("does not count toward the duration of the command or the turn's work", () => {
    const { bench, row } = asked();
    bench.nowMs += 60_000;
    bench.answer(row, { decision: "accept" });
    bench.nowMs += 500;
    finish(bench, "ok", false);
    bench.event({ type: "agent.result", backend: "claude", subtype: "success" });
    const { row: call, action } = lastCall(bench);
    expect(call.latency_ms).toBeLessThan(1_000);
    expect((action.ended_at_ms ?? 0) - action.started_at_ms).toBe(call.latency_ms);
    const turn = bench.turns.at(-1);
    expect(turn?.waited_ms).toBeGreaterThanOrEqual(60_000);
    expect((turn?.duration_ms ?? 0) - (turn?.waited_ms ?? 0)).toBeLessThan(1_000);
  });

  test("is a part of the turn, also if the agent reports a time without it", () => {
    const { bench, row } = asked();
    bench.nowMs += 60_000;
    bench.answer(row, { decision: "accept" });
    bench.event({ type: "agent.result", backend: "claude", subtype: "success", duration_ms: 5 });
    const turn = bench.turns.at(-1);
    expect(turn?.duration_ms).toBeGreaterThanOrEqual(turn?.waited_ms ?? Number.NaN);
  });

  test("counts once while two requests are pending, and starts again with the next turn", () => {
    const { bench, row } = asked();
    const second = bench.ask({ native_id: "m", request_type: "command", payload: row.payload });
    bench.nowMs += 10_000;
    bench.answer(row, { decision: "accept" });
    bench.answer(second, { decision: "accept" });
    bench.event({ type: "agent.result", backend: "claude", subtype: "success" });
    expect(bench.turns.at(-1)?.waited_ms).toBeLessThan(11_000);
    bench.event({ type: "agent.message", backend: "claude", role: "assistant", content: [] });
    bench.event({ type: "agent.result", backend: "claude", subtype: "success" });
    expect(bench.turns.at(-1)).not.toHaveProperty("waited_ms");
  });
});

describe("a file that is written as a whole", () => {
  const input = { file_path: "/home/user/project/a", content: "x\n" };
  const write = {
    type: "agent.tool_use",
    backend: "claude",
    tool_use_id: "t1",
    name: "Write",
    input,
  } as const;

  test.each([
    ["File created successfully at: /home/user/project/a", "add", "created a (+1)"],
    ["The file /home/user/project/a has been updated. Here is…", "overwrite", "overwrote a (+1)"],
    ["ok", "write", "wrote a (+1)"],
  ])("is named for what its result says: %s", (output, change_kind, summary_text) => {
    const bench = new Bench("claude");
    bench.event(write);
    finish(bench, output, false);
    expect(lastCall(bench)).toMatchObject({ row: { change_kind }, action: { summary_text } });
  });

  test("and for what its request said, even if declined", () => {
    const bench = new Bench("claude");
    bench.event(write);
    const changes = [{ path: input.file_path, kind: "overwrite" as const, diff: "@@\n+x" }];
    const payload = { title: "Write: a", changes, choices: [{ decision: "decline" as const }] };
    const row = bench.ask({ native_id: "n", request_type: "file_change", item_id: "t1", payload });
    bench.answer(row, { decision: "decline" });
    finish(bench, REJECTED);
    const summary_text = "asked to overwrite a (+1) (not run: declined)";
    expect(lastCall(bench).action).toMatchObject({ summary_text });
  });
});
