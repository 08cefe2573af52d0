// Turns, user messages, the agent's description, and notices.
import { describe, expect, test } from "vitest";
import { applyInputs } from "../../../src/client/view.ts";
import { call, delta, ended, type Frame, notice, says, viewOf, withFrames } from "./view-inputs.ts";

const delivered = (text: string, data: object = {}) => notice("input_delivered", { text, data });
const echo = (content: unknown): Frame => ({ type: "agent.user_echo", message: { role: "user", content } });

describe("a turn", () => {
  test("runs from its start to its result, which closes everything", () => {
    const begun = viewOf([
      notice("task_started", { data: { started_at_ms: 5 } }),
      delta("x"),
      call("t", "a", {}),
    ]);
    expect(begun.turn).toEqual({ started_at_ms: 5 });
    const usage = { input_tokens: 4, odd: "x" };
    const over = withFrames(
      begun,
      ended({ duration_ms: 9, cost_usd: 0.5, usage, error: { message: "why" } }),
    );
    expect(over).not.toHaveProperty("turn");
    expect(over.entries).toMatchObject([{ isOpen: false }, { status: "unknown" }, { kind: "result" }]);
    expect(over.entries[2]).toMatchObject({
      subtype: "success",
      duration_ms: 9,
      cost_usd: 0.5,
      usage: { input_tokens: 4 },
      error: "why",
    });
  });

  test("is assumed to run when a client starts reading in the middle, but not after its end", () => {
    expect(viewOf([delta("x")]).turn).toEqual({});
    expect(viewOf([ended(), delta("x", { parent_tool_use_id: "t" })])).not.toHaveProperty("turn");
  });
});

test("turns that the agent has forgotten are marked, with their messages, and later ones are not", () => {
  const turn = (turn_id: string) => [
    delivered(turn_id, { turn_id }),
    notice("task_started", { data: { turn_id, started_at_ms: 1 } }),
    says(`done ${turn_id}`),
    ended(),
  ];
  const rewound = notice("conversation_rewound", {
    text: "the agent has forgotten turn 2 and later",
    data: { turn: 2, turn_ids: ["b", "c"] },
  });
  const view = viewOf([...turn("a"), ...turn("b"), ...turn("c"), rewound, ...turn("d")]);
  const kinds = (isUndone: boolean) =>
    view.entries.filter((entry) => (entry.isUndone === true) === isUndone).map(({ kind }) => kind);
  const whole = ["user", "text", "result"];
  expect(kinds(true)).toEqual([...whole, ...whole]);
  expect(kinds(false)).toEqual([...whole, "notice", ...whole]);
  expect(viewOf([rewound]).entries).toHaveLength(1);
});

describe("a message of the user", () => {
  test("is shown once when it is delivered and echoed, with all of its text", () => {
    const told = "x".repeat(64 * 1024);
    const view = viewOf([delivered(told), echo([{ type: "text", text: `${told}yz` }, { type: "image" }])]);
    expect(view.entries).toMatchObject([{ id: "1", kind: "user", text: `${told}yz`, attachments: 1 }]);
    expect(viewOf([delivered(told)]).entries).toMatchObject([{ text: `${told}…` }]);
  });

  test("has its images also from an agent that does not repeat it", () => {
    const { entries } = viewOf([delivered("", { message_id: "m", attachments: 2 })]);
    expect(entries).toMatchObject([{ kind: "user", text: "", attachments: 2 }]);
  });

  test("is complete if the queue has it", () => {
    const text = "y".repeat(65 * 1024);
    const queue = [
      {
        message_id: "m",
        kind: "user" as const,
        message: { role: "user" as const, content: text },
        queued_at_ms: 1,
      },
    ];
    const view = withFrames(
      applyInputs(viewOf([]), [{ kind: "queue", queue }]),
      delivered(text.slice(0, 64 * 1024), { message_id: "m", from: "s2" }),
    );
    expect(view.entries).toMatchObject([{ text, from: "s2" }]);
  });

  test("that is only echoed is shown, also when the same was delivered in an earlier turn", () => {
    expect(viewOf([echo("go")]).entries).toMatchObject([{ kind: "user", text: "go" }]);
    expect(viewOf([delivered("go"), ended(), echo("go")]).entries).toHaveLength(3);
    expect(viewOf([delivered("go"), echo("stop")]).entries).toHaveLength(2);
  });

  test("that is sent twice is shown twice", () => {
    expect(viewOf([delivered("go"), echo("go"), delivered("go"), echo("go")]).entries).toHaveLength(2);
  });
});

test("the agent's description is kept, and completed by later ones", () => {
  const view = viewOf([
    { type: "agent.system_init", backend: "codex", model: "m1", cwd: "/w" },
    { type: "agent.system_init", backend: "codex", model: "m2" },
    notice("context_usage", { data: { used_tokens: 1, context_window: 100 } }),
  ]);
  expect(view.agent).toEqual({ backend: "codex", model: "m2", cwd: "/w", context_window: 100 });
  expect(view.entries).toEqual([]);
});

describe("notices", () => {
  test.each([
    [notice("quiet", { data: { a: 1 } }), undefined],
    [notice("told", { text: "hello" }), { level: "info", category: "told", text: "hello" }],
    [notice("bad", { level: "warn", data: { a: 1 } }), { level: "warn", text: '{"a":1}' }],
    [notice("odd", { level: "shout", text: "x" }), { level: "info" }],
    [notice("compacted", { data: {} }), { text: "the conversation was compacted" }],
    [
      notice("model_retry", {
        data: { attempt: 1, max_attempts: 10, http_status: 529, native_code: "overloaded" },
      }),
      { text: "model request failed: HTTP 529: overloaded; retrying (1 of 10)" },
    ],
    [
      notice("plan", {
        data: {
          plan: [{ step: "a", status: "completed" }, { step: "b", status: "in_progress" }, { step: "c" }],
        },
      }),
      { text: "[x] a\n[>] b\n[ ] c" },
    ],
    [
      notice("input_failed", {
        level: "warn",
        text: "go",
        data: { error: { code: "x", message: "no pictures" } },
      }),
      { level: "warn", text: "no pictures: go" },
    ],
    [
      { type: "blemeesd.stderr", line: "oops" },
      { category: "blemeesd.stderr", text: "oops" },
    ],
    [
      { type: "blemeesd.error", code: "backend_crashed", message: "gone" },
      { level: "error", category: "blemeesd.error", text: "backend_crashed: gone" },
    ],
    [{ type: "blemeesd.session_taken" }, { level: "warn" }],
    [{ type: "agent.unheard_of", text: "x" }, undefined],
  ])("%j becomes %j", (frame, entry) => {
    expect(viewOf([frame as Frame]).entries).toMatchObject(
      entry === undefined ? [] : [{ kind: "notice", ...entry }],
    );
    expect(viewOf([frame as Frame]).entries).toHaveLength(entry === undefined ? 0 : 1);
  });
});

describe("around the events", () => {
  test("a gap is shown in its place, with what is missing", () => {
    const view = applyInputs(viewOf([says("a")]), [
      { kind: "gap", data: { since_seq: 1, first_available_seq: 9, reason: "retention" } },
    ]);
    expect(view.entries[1]).toMatchObject({
      kind: "gap",
      seq: null,
      text: "events 2 to 8 are missing (retention)",
    });
  });

  test("a stream that catches up is marked until it has", () => {
    const behind = applyInputs(viewOf([]), [
      { kind: "link", state: "live" },
      { kind: "catching_up", data: { since_seq: 0, last_seq: 2 } },
    ]);
    expect(behind.link).toEqual({ state: "live", message: "catching up" });
    expect(withFrames(behind, says("a")).link).toHaveProperty("message");
    expect(withFrames(behind, says("a"), says("b")).link).toEqual({ state: "live" });
  });

  test("a closed session closes what is open; later events open it again", () => {
    const view = applyInputs(viewOf([delta("x"), call("t", "a", {})]), [
      { kind: "closed", data: { reason: "gone" } },
    ]);
    expect(view).toMatchObject({ closed: "gone", entries: [{ isOpen: false }, { status: "unknown" }] });
    expect(withFrames(view, says("back"))).not.toHaveProperty("closed");
  });

  test("our own lines, the session, the queue and the link are taken unchanged", () => {
    const session = { session_id: "s1" } as never;
    const view = applyInputs(viewOf([]), [
      { kind: "local", level: "error", text: "no such model", at_ms: 7 },
      { kind: "session", session },
      { kind: "link", state: "lost", message: "daemon gone" },
    ]);
    expect(view).toMatchObject({ session, link: { state: "lost", message: "daemon gone" } });
    expect(view.entries).toMatchObject([
      { kind: "notice", level: "error", category: "local", text: "no such model", at_ms: 7 },
    ]);
  });

  test("a reset clears the feed and keeps session, requests and queue", () => {
    const session = { session_id: "s1" } as never;
    const before = applyInputs(viewOf([says("b"), delta("c")]), [{ kind: "session", session }]);
    const view = applyInputs(before, [{ kind: "reset" }]);
    expect(view).toMatchObject({ entries: [], seq: 0, dropped: 0, session });
    expect(withFrames(view, says("a")).entries).toMatchObject([{ text: "a" }]);
  });
});
