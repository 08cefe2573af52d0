import { expect, test } from "vitest";
import { REQUEST_STATUSES, REQUEST_TYPES, RequestRow } from "../../../src/protocol/requests.ts";
import { isRequestRow } from "../../../src/store/jsonl/request-check.ts";
import { request } from "../material.ts";

const whole = request("s", "r", {
  status: "resolved",
  thread_id: "th",
  turn_id: "tu",
  item_id: "it",
  path: ["root", "child"],
  payload: {
    title: "t",
    questions: [{ id: "q", question: "?" }],
    choices: [{ decision: "accept" }],
  },
  expires_at_ms: 6,
  answer: { answers: { q: ["a", "b"] } },
  resolved_at_ms: 5,
  resolution_source: "api",
  dispatched_at_ms: 5,
  error_code: "e",
  error_message: "m",
});

test("every row that the schema takes is taken, whatever its status and type", () => {
  for (const status of REQUEST_STATUSES) {
    for (const request_type of Object.keys(REQUEST_TYPES)) {
      const row: unknown = { ...whole, status, request_type };
      expect(RequestRow.safeParse(row).success).toBe(true);
      expect(isRequestRow(row)).toBe(true);
    }
  }
  expect(isRequestRow(request("s", "r"))).toBe(true);
  expect(isRequestRow(request("s", "r", { answer: { decision: "accept" } }))).toBe(true);
});

test("a row without a field that the schema wants, or with one of another kind, is refused as by the schema", () => {
  expect(RequestRow.safeParse(whole).success).toBe(true);
  for (const field of Object.keys(whole)) {
    for (const value of [undefined, null, 7.5, "\0", [7], {}]) {
      const row: unknown = { ...whole, [field]: value };
      // Any text will do for where an answer came from: it is shown and nothing else.
      if (field === "resolution_source" && typeof value === "string") continue;
      expect(isRequestRow(row), `${field}: ${JSON.stringify(value)}`).toBe(RequestRow.safeParse(row).success);
    }
  }
  for (const value of [undefined, null, "row", [], 7]) expect(isRequestRow(value)).toBe(false);
});

test("a payload is refused when what programs read in it is missing", () => {
  const payload = whole.payload;
  for (const bad of [
    { ...payload, title: undefined },
    { ...payload, choices: undefined },
    { ...payload, choices: [{}] },
    { ...payload, choices: ["accept"] },
    { ...payload, questions: {} },
    { ...payload, questions: [{ question: "?" }] },
  ]) {
    expect(isRequestRow({ ...whole, payload: bad }), JSON.stringify(bad)).toBe(false);
  }
});
