// A call that was asked and never allowed did not run, whatever ended it; waiting for the user does not count as the
// turn's work.
import { describe, expect, test } from "vitest";
import { computeTookMs, computeTurnMs, computeWorkedMs } from "../../../src/client/view/format.ts";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import { orphan, withdraw } from "../../../src/sessions/requests/states.ts";
import { noticeOf, pending, resolved } from "../request-rows.ts";
import { call, ended, type Frame, notice, result, viewOf } from "./view-inputs.ts";

const row = pending({ item_id: "t", requested_at_ms: 1_000 });
const tells = (request: RequestRow): Frame => noticeOf(request, 0) as Frame;
const answered = (decision: string): RequestRow =>
  ({ ...resolved(row), resolved_at_ms: 61_000, answer: { decision } }) as RequestRow;
const asked = [notice("task_started"), call("t", "Bash", { command: "make" }), tells(row)];
const cut = result("t", "interrupted", { is_error: true });
const crash: Frame = { type: "blemeesd.error", code: "backend_crashed", message: "killed" };
const failed = ended({ subtype: "error", error: { code: "backend_crashed", message: "killed" } });
const interrupted = ended({ subtype: "interrupted" });
const expired = { ...row, status: "expired", error_code: "request_expired" } as const;

function toolOf(...frames: Frame[]) {
  return viewOf([...asked, ...frames]).entries.find(({ kind }) => kind === "tool");
}

describe("a call that was asked never ran", () => {
  test.each<[string, string, Frame[]]>([
    ["declined", "declined", [tells(answered("decline")), result("t", "no", { is_error: true })]],
    ["declined, with the answer after the result", "declined", [cut, tells(answered("decline"))]],
    ["declined and the turn stopped", "declined", [tells(answered("cancel")), cut, interrupted]],
    ["expired", "expired", [tells(expired), cut]],
    [
      "expired, and policy's answer reached the agent",
      "expired",
      [tells(expired), tells({ ...answered("decline"), error_code: "request_expired" }), cut],
    ],
    ["withdrawn", "withdrawn", [tells(withdraw(row, "taken back")), ended()]],
    ["interrupted", "interrupted", [cut, interrupted, tells(withdraw(row, "interrupted"))]],
    ["interrupted without a result", "interrupted", [interrupted]],
    ["the agent died", "agent_died", [crash, cut, failed, tells(orphan(row, "agent_gone", "gone"))]],
    ["the daemon died", "daemon_stopped", [tells(orphan(row, "server_restarted", "killed")), crash, failed]],
    [
      "approved too late",
      "interrupted",
      [tells(answered("accept")), tells({ ...answered("accept"), status: "withdrawn" }), cut, interrupted],
    ],
  ])("%s", (_name, not_run, frames) => {
    expect(toolOf(...frames)).toMatchObject({ status: "not_run", not_run });
  });
});

test("a call that was allowed ran, however it ended", () => {
  const tool = toolOf(tells(answered("accept")), cut, interrupted);
  expect(tool).toMatchObject({ status: "failed" });
  expect(tool).not.toHaveProperty("not_run");
  expect(toolOf(tells(answered("accept")), interrupted)).toMatchObject({ status: "unknown" });
});

test("a decision about a call does not apply to another with the same id", () => {
  const again = call("t", "Bash", { command: "make again" });
  const tools = viewOf([...asked, tells(answered("decline")), cut, ended(), again, cut]).entries;
  expect(tools.filter(({ kind }) => kind === "tool")).toMatchObject([
    { status: "not_run" },
    { status: "failed", title: "make again" },
  ]);
});

test("time spent waiting for the user does not count for the call", () => {
  const tool = toolOf(tells(answered("accept")), result("t", "ok"));
  if (tool?.kind !== "tool") throw new Error("no tool");
  expect(tool).toMatchObject({ status: "done", waited_ms: 60_000 });
  expect(computeTookMs({ ...tool, at_ms: 1_000, ended_at_ms: 61_400 })).toBe(400);
});

test("time spent waiting for the user does not count for the turn", () => {
  const done = [...asked, tells(answered("accept")), result("t", "ok"), ended({ duration_ms: 61_500 })];
  const entry = viewOf(done).entries.at(-1);
  if (entry?.kind !== "result") throw new Error("no result");
  expect(entry).toMatchObject({ duration_ms: 61_500, waited_ms: 60_000 });
  expect(computeWorkedMs(entry)).toBe(1_500);
});

test("nor while the turn runs and the request is pending", () => {
  const { turn } = viewOf(asked);
  expect(computeTurnMs(0, turn, 30_000)).toBe(1_000);
});
