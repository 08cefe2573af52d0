// Information that arrives several times is shown once, in its place: errors, retries, the requests of sub-agents.
import { describe, expect, test } from "vitest";
import { noticeOf, pending, resolved } from "../request-rows.ts";
import { call, ended, type Frame, notice, result, says, viewOf, withFrames } from "./view-inputs.ts";

const tells = (row: Parameters<typeof noticeOf>[0]) => noticeOf(row, 1) as Frame;
const retry = (attempt: number) =>
  notice("model_retry", { level: "info", data: { attempt, max_attempts: 3, http_status: 429 } });

describe("why a turn failed", () => {
  const failed = (message: string) => ended({ subtype: "error", error: { message } });

  test.each([
    ["the agent said it last", says("API Error: 400"), "API Error: 400"],
    ["an ACP agent did", says("API Error: 400"), "Internal error: API Error: 400"],
    [
      "the daemon did, when the agent died",
      { type: "blemeesd.error", code: "backend_crashed", message: "it died" },
      "it died",
    ],
  ])("is not repeated when %s", (_, before, why) => {
    expect(viewOf([before, failed(why)]).entries.at(-1)).not.toHaveProperty("error");
  });

  test.each([
    ["other words", says("API Error: 400, once more"), "API Error: 400"],
    ["words that only end alike", says("so it is done"), "done"],
    ["an earlier word", says("x"), "API Error: 400"],
  ])("is shown after %s", (_, before, why) => {
    expect(viewOf([before, failed(why)]).entries.at(-1)).toMatchObject({ error: why });
  });
});

describe("notices", () => {
  test("of retries only the newest is kept, in its place", () => {
    const { entries } = viewOf([retry(1), retry(2), retry(3), says("x"), retry(1)]);
    expect(entries).toMatchObject([
      { id: "1", text: expect.stringContaining("(3 of 3)") },
      { kind: "text" },
      { id: "5", text: expect.stringContaining("(1 of 3)") },
    ]);
  });

  test("the same text twice in a row is shown once; another kind or speaker repeats it", () => {
    const warns = (fields: object = {}) => notice("agent_notice", { level: "warn", text: "w", ...fields });
    const { entries } = viewOf([
      warns(),
      warns(),
      warns({ parent_tool_use_id: "t" }),
      warns(),
      notice("x", { text: "w" }),
    ]);
    expect(entries.map(({ id }) => id)).toEqual(["1", "3", "4", "5"]);
  });

  test("a line of an agent's log has neither its colours nor its time", () => {
    const line = "\u001b[2m2026-11-16T12:19:56.195908Z\u001b[0m \u001b[31mERROR\u001b[0m core: failed";
    expect(viewOf([{ type: "blemeesd.stderr", line }]).entries).toMatchObject([
      { text: "ERROR core: failed" },
    ]);
  });
});

describe("a tool that waited for the user", () => {
  const asked = pending({ item_id: "t", requested_at_ms: 1_000 });
  const answered = (answer: object) =>
    tells({ ...resolved(asked), resolved_at_ms: 61_000, answer } as Parameters<typeof noticeOf>[0]);
  const begun = viewOf([call("t", "Bash", { command: "ls" }), tells(asked)]);

  test("shows how long it waited, each request once", () => {
    const accepted = withFrames(begun, answered({ decision: "accept" }), answered({ decision: "accept" }));
    expect(accepted.entries[0]).toMatchObject({ status: "running", waited_ms: 60_000 });
    expect(accepted.entries[0]).not.toHaveProperty("not_run");
  });

  test.each(["decline", "cancel"])("and that it was declined, by %s", (decision) => {
    const view = withFrames(begun, answered({ decision }), result("t", "no", { is_error: true }));
    expect(view.entries[0]).toMatchObject({ status: "not_run", not_run: "declined" });
  });

  test("asks among its sub-agent's entries", () => {
    const { entries } = viewOf([
      call("a", "Task", { subagent_type: "explorer" }),
      call("t", "Bash", { command: "ls" }, { parent_tool_use_id: "a" }),
      tells(asked),
    ]);
    expect(entries[2]).toMatchObject({ kind: "request", parent: "a", depth: 1 });
  });
});
