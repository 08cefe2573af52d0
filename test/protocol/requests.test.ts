// The shapes of requests and answers, strict in both directions, and when a request is settled.
import { expect, test } from "vitest";
import { Answer, isSettled, REQUEST_STATUSES, RequestPayload } from "../../src/protocol/requests.ts";

test.each([
  { decision: "accept" },
  { decision: "acceptForSession" },
  { decision: "acceptAlways" },
  { decision: "decline", message: "use git mv" },
  { decision: "cancel", message: "" },
  { decision: "accept", updated_input: { command: "ls" } },
  { answers: {} },
  { answers: { color: "Red", sizes: ["S", "M"] } },
])("%j is an answer, unchanged", (answer) => {
  expect(Answer.parse(answer)).toEqual(answer);
});

test.each([
  {},
  "accept",
  null,
  { decision: "Accept" },
  { decision: "accept", answers: {} },
  { decision: "accept", updated_input: "ls" },
  { answers: ["Red"] },
  { answers: { color: 1 } },
  { answers: { color: null } },
])("%j is not an answer", (answer) => {
  expect(Answer.safeParse(answer).success).toBe(false);
});

test("`shown` accepts no unknown fields", () => {
  const payload = { title: "t", choices: [{ decision: "accept" }] };
  expect(RequestPayload.safeParse(payload).success).toBe(true);
  expect(RequestPayload.safeParse({ ...payload, hidden: 1 }).success).toBe(false);
  expect(RequestPayload.safeParse({ ...payload, choices: [{ decision: "accept", also: 1 }] }).success).toBe(
    false,
  );
});

test.each([
  ["pending", false, false],
  ["expired", false, false],
  ["resolved", false, true],
  ["orphaned", true, true],
  ["withdrawn", true, true],
] as const)("%s is settled: %s, and with the answer dispatched: %s", (status, before, after) => {
  expect(isSettled({ status })).toBe(before);
  expect(isSettled({ status, dispatched_at_ms: 1 })).toBe(after);
});

test("every state is one of these five", () => {
  expect([...REQUEST_STATUSES].sort()).toEqual(["expired", "orphaned", "pending", "resolved", "withdrawn"]);
});
