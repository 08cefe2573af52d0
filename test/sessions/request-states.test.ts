// The steps of a request: which are allowed in which state, valid answers, and what is never kept.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DECISIONS,
  REQUEST_TYPES,
  RequestPayload,
  RequestRow,
  type RequestType,
} from "../../src/protocol/requests.ts";
import {
  checkAnswer,
  createPendingRow,
  expire,
  hashPayload,
  makePolicyAnswer,
  markDispatched,
  orphan,
  resolve,
  withdraw,
  withoutSecrets,
} from "../../src/sessions/requests/states.ts";
import { askOf } from "./fakes.ts";

const IDS = { request_id: "r", session_id: "s", backend: "fake", generation: "g", nowMs: 10 };
const accept = { decision: "accept" } as const;

function pending(fields: Parameters<typeof askOf>[1] = {}): RequestRow {
  return createPendingRow(askOf("n", fields), IDS);
}

const ROWS = {
  pending: pending(),
  resolved: resolve(pending(), accept, { source: "api" }, 20),
  "resolved and dispatched": markDispatched(resolve(pending(), accept, { source: "api" }, 20), 30),
  expired: expire(pending()),
  "resolved by policy": markDispatched(expire(pending()), 30),
  withdrawn: withdraw(pending(), "x"),
  orphaned: orphan(pending(), "agent_gone", "x"),
};
type From = keyof typeof ROWS;

const STEPS = {
  resolve: (row: RequestRow) => resolve(row, accept, { source: "tui" }, 40),
  expire,
  dispatched: (row: RequestRow) => markDispatched(row, 40),
  withdraw: (row: RequestRow) => withdraw(row, "it decided by itself"),
  orphan: (row: RequestRow) => orphan(row, "agent_gone", "it is gone"),
};
const ALLOWED: Record<keyof typeof STEPS, Partial<Record<From, string>>> = {
  resolve: { pending: "resolved" },
  expire: { pending: "expired" },
  dispatched: { resolved: "resolved", expired: "resolved" },
  withdraw: { pending: "withdrawn", resolved: "withdrawn", expired: "withdrawn" },
  orphan: { pending: "orphaned", resolved: "orphaned", expired: "orphaned" },
};
const CASES = (Object.keys(STEPS) as (keyof typeof STEPS)[]).flatMap((step) =>
  (Object.keys(ROWS) as From[]).map((from) => ({ step, from, to: ALLOWED[step][from] })),
);

describe("steps", () => {
  test.each(CASES.filter(({ to }) => to !== undefined))("$step: $from becomes $to", ({ step, from, to }) => {
    const next = STEPS[step](ROWS[from]);
    expect(next.status).toBe(to);
    expect(RequestRow.parse(next)).toEqual(next);
  });

  test.each(CASES.filter(({ to }) => to === undefined))("$step: never from $from", ({ step, from }) => {
    const before = structuredClone(ROWS[from]);
    expect(() => STEPS[step](ROWS[from])).toThrow(/request r is .* and cannot become/);
    expect(ROWS[from]).toEqual(before);
  });

  test("a new row has the request, its session, agent and deadline", () => {
    const where = { thread_id: "t", turn_id: "u", item_id: "i", path: ["root", "sub"] };
    const ask = askOf("n", where);
    const row = createPendingRow(ask, { ...IDS, expiresInMs: 5 });
    expect(row).toEqual({
      ...{ request_id: "r", session_id: "s", backend: "fake", generation: "g", request_type: "command" },
      ...where,
      native_request_id: "n",
      ...{ status: "pending", payload: ask.payload, shown_hash: hashPayload(ask.payload) },
      ...{ requested_at_ms: 10, expires_at_ms: 15 },
    });
    expect(pending()).not.toHaveProperty("expires_at_ms");
  });

  test("an answer is kept with its source and time; its dispatch with its own time", () => {
    expect(ROWS["resolved and dispatched"]).toMatchObject({
      ...{ answer: accept, resolution_source: "api", resolved_at_ms: 20, dispatched_at_ms: 30 },
    });
    expect(ROWS["resolved and dispatched"]).not.toHaveProperty("error_code");
  });

  test("an expired request is answered by policy and stays marked as expired", () => {
    expect(ROWS.expired).toMatchObject({ answer: { decision: "decline" }, error_code: "request_expired" });
    expect(ROWS.expired).not.toHaveProperty("resolved_at_ms");
    expect(ROWS["resolved by policy"]).toMatchObject({
      ...{ resolution_source: "policy", resolved_at_ms: 30, dispatched_at_ms: 30 },
      error_code: "request_expired",
    });
  });

  test("an orphan says whether there was an answer", () => {
    expect(ROWS.orphaned.error_message).toBe("x");
    expect(orphan(ROWS.resolved, "server_restarted", "x")).toMatchObject({
      ...{ answer: accept, error_code: "server_restarted" },
      error_message: expect.stringMatching(/^x; .*answer/),
    });
  });
});

describe("the policy's answer", () => {
  test.each(Object.entries(REQUEST_TYPES))("to a %s request fits it", (type, wants) => {
    const request_type = type as RequestType;
    const answer = makePolicyAnswer({ request_type });
    expect(answer).toEqual(wants === "input" ? { answers: {} } : { decision: "decline" });
    const payload = { title: "x", questions: [], choices: [{ decision: "decline" as const }] };
    expect(() => checkAnswer(pending({ request_type, payload }), answer)).not.toThrow();
  });
});

describe("an answer", () => {
  const command = pending({
    payload: {
      title: "x",
      choices: [
        { decision: "accept", takes: ["updated_input"] },
        { decision: "decline", takes: ["message"] },
        { decision: "cancel" },
      ],
    },
  });
  const options = pending({
    payload: {
      title: "x",
      choices: [
        { decision: "accept" },
        { decision: "acceptForSession" },
        { decision: "acceptForSession", option: "rules" },
        { decision: "acceptForSession", option: "mode" },
        { decision: "acceptAlways", option: "rules" },
        { decision: "decline" },
      ],
    },
  });
  const form = pending({
    request_type: "user_input",
    payload: {
      title: "x",
      questions: [
        { id: "one", question: "?", options: [{ label: "a" }, { label: "b" }] },
        { id: "many", question: "?", options: [{ label: "a" }, { label: "b" }], multi_select: true },
        { id: "other", question: "?", options: [{ label: "a" }], allows_other: true },
        { id: "free", question: "?" },
      ],
      choices: [{ decision: "accept" }, { decision: "decline" }],
    },
  });

  test.each([
    ["a decision that is offered", command, { decision: "accept" }],
    ["a changed input, where accepted", command, { decision: "accept", updated_input: { a: 1 } }],
    ["a message, where accepted", command, { decision: "decline", message: "no" }],
    ["a stop", command, { decision: "cancel" }],
    ["the choice without an option", options, { decision: "acceptForSession" }],
    ["an option of its decision", options, { decision: "acceptForSession", option: "mode" }],
    ["one of the labels", form, { answers: { one: "a" } }],
    ["one label in a list", form, { answers: { one: ["b"] } }],
    ["several labels, where accepted", form, { answers: { many: ["a", "b"] } }],
    ["free text, where accepted", form, { answers: { other: "c", free: "anything" } }],
    ["no answer at all", form, { answers: {} }],
    ["a refusal to answer", form, { decision: "decline" }],
  ] as const)("is accepted: %s", (_what, row, answer) => {
    expect(() => checkAnswer(row, answer as never)).not.toThrow();
  });

  test("a reason that the agent cannot be given is left out of a refusal, and only that", () => {
    const payload = {
      title: "x",
      choices: [{ decision: "decline" as const }, { decision: "cancel" as const }],
    };
    const silent = { ...command, payload };
    for (const decision of ["decline", "cancel"] as const) {
      expect(checkAnswer(silent, { decision, message: "no" })).toEqual({ decision });
    }
    expect(checkAnswer(command, { decision: "decline", message: "no" })).toHaveProperty("message", "no");
    expect(() => checkAnswer(silent, { decision: "decline", updated_input: {} })).toThrow(/updated_input/);
    expect(() => checkAnswer(silent, { decision: "accept", message: "yes" })).toThrow(/not offered/);
  });

  test.each([
    [
      "answers to what wants a decision",
      command,
      { answers: {} },
      /needs a decision.*accept, decline, cancel/,
    ],
    ["a decision that is not offered", command, { decision: "acceptAlways" }, /acceptAlways.*not offered/],
    ["a message that is not taken", command, { decision: "accept", message: "x" }, /answer\/message/],
    [
      "an input that is not taken",
      command,
      { decision: "decline", updated_input: {} },
      /answer\/updated_input/,
    ],
    [
      "an option that is not offered",
      options,
      { decision: "acceptForSession", option: "all" },
      /\/answer\/option: "all" is not offered with "acceptForSession"; offered: rules, mode/,
    ],
    [
      "the option of another decision",
      options,
      { decision: "acceptAlways", option: "mode" },
      /"mode" is not offered with "acceptAlways"; offered: rules/,
    ],
    [
      "an option where there are none",
      options,
      { decision: "accept", option: "rules" },
      /"rules" is not offered with "accept"; offered: none/,
    ],
    [
      "no option where one is needed",
      options,
      { decision: "acceptAlways" },
      /needs one of its options: rules/,
    ],
    ["yes without answers", form, { decision: "accept" }, /needs answers/],
    ["a stop that is not offered", form, { decision: "cancel" }, /not offered/],
    ["an unknown question", form, { answers: { two: "a" } }, /answers\/two: unknown question.*one, many/],
    ["a label that is not offered", form, { answers: { one: "c" } }, /"c" is not offered.*a, b/],
    ["several where one is wanted", form, { answers: { one: ["a", "b"] } }, /accepts one/],
    ["one bad label among good ones", form, { answers: { many: ["a", "z"] } }, /"z" is not offered/],
    [
      "a question called as something every object has",
      form,
      { answers: { constructor: "a" } },
      /unknown question/,
    ],
  ] as const)("is refused with the place of the fault: %s", (_what, row, answer, message) => {
    const check = () => checkAnswer(row, answer as never);
    expect(check).toThrow(message);
    expect(check).toThrow(expect.objectContaining({ code: "invalid_answer" }));
  });

  test("with any decision is accepted exactly when it is offered", () => {
    for (const decision of DECISIONS) {
      const isOffered = command.payload.choices.some((choice) => choice.decision === decision);
      const check = () => checkAnswer(command, { decision });
      if (isOffered) expect(check).not.toThrow();
      else expect(check).toThrow();
    }
  });
});

describe("a secret", () => {
  const asks = pending({
    request_type: "user_input",
    payload: {
      title: "x",
      questions: [
        { id: "user", question: "?" },
        { id: "password", question: "?", is_secret: true },
      ],
      choices: [{ decision: "accept" }],
    },
  });
  const answered = resolve(asks, { answers: { user: "ann", password: "hunter2" } }, { source: "api" }, 20);

  test("is in the row until the agent has it, and is shown to no one else", () => {
    expect(answered.answer).toEqual({ answers: { user: "ann", password: "hunter2" } });
    expect(withoutSecrets(answered).answer).toEqual({ answers: { user: "ann", password: "[secret]" } });
  });

  test.each([
    ["dispatched", markDispatched(answered, 30)],
    ["withdrawn", withdraw(answered, "x")],
    ["orphaned", orphan(answered, "agent_gone", "x")],
  ])("is not kept in a row that is %s", (_what, row) => {
    expect(JSON.stringify(row)).not.toContain("hunter2");
    expect(row.answer).toEqual({ answers: { user: "ann", password: "[secret]" } });
  });

  test("changes nothing for rows without one", () => {
    expect(withoutSecrets(ROWS.resolved)).toBe(ROWS.resolved);
    expect(withoutSecrets(asks)).toBe(asks);
  });
});

describe("the hash of what was shown", () => {
  const json = fc.dictionary(fc.string(), fc.jsonValue());
  const payloads = fc.record(
    {
      title: fc.string({ unit: "binary" }),
      command: fc.string({ unit: "binary" }),
      reason: fc.string(),
      input: fc.jsonValue(),
      details: json,
      choices: fc.constant<RequestPayload["choices"]>([{ decision: "accept" }]),
    },
    { requiredKeys: ["title", "choices"] },
  );

  test("is the same after a round trip through JSON and through the schema", () => {
    fc.assert(
      fc.property(payloads, (payload) => {
        const back = JSON.parse(JSON.stringify(payload)) as RequestPayload;
        expect(hashPayload(back)).toBe(hashPayload(payload));
      }),
    );
    const { payload } = pending();
    expect(hashPayload(RequestPayload.parse(payload))).toBe(hashPayload(payload));
  });

  test("changes when anything in it changes", () => {
    const { payload } = pending();
    const others = [
      { ...payload, title: `${payload.title} ` },
      { ...payload, command: `${payload.command}; rm -rf x` },
      { ...payload, input: null },
      { ...payload, choices: payload.choices.slice(1) },
    ];
    expect(new Set([payload, ...others].map(hashPayload)).size).toBe(5);
  });
});
