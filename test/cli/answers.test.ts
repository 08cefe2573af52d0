import { expect, test } from "vitest";
import {
  isNamed,
  isSameAnswer,
  pickRequest,
  splitRequest,
  toAnswers,
  toDecision,
  toRefusal,
} from "../../src/cli/answers.ts";
import { parseLine } from "../../src/cli/wire/parse.ts";
import { pending, QUESTIONS } from "../client/request-rows.ts";

const one = pending();
const two = pending({ request_id: "req_a2" });
const asks = pending({ request_type: "user_input", payload: QUESTIONS });

/** As typed at the prompt. */
function said(line: string, row = one) {
  const { verb, given } = parseLine(line) ?? {};
  if (verb?.answer === undefined || given === undefined) throw new Error(`${line} answers nothing`);
  const split = splitRequest(given.words, given.rest);
  return { request: split.request, answer: verb.answer(split, row, given.flags) };
}

test.each([
  ["accept", undefined, { decision: "accept" }],
  ["accept req_a1", "req_a1", { decision: "accept" }],
  ["accept-session", undefined, { decision: "acceptForSession" }],
  ["always req_a1", "req_a1", { decision: "acceptAlways" }],
  ["always req_a1 --option rules", "req_a1", { decision: "acceptAlways", option: "rules" }],
  ["accept-session --option=mode-x req_a1", "req_a1", { decision: "acceptForSession", option: "mode-x" }],
  ["decline", undefined, { decision: "decline" }],
  ["decline req_a1", "req_a1", { decision: "decline" }],
  ["decline use rm -i instead", undefined, { decision: "decline", message: "use rm -i instead" }],
  ["decline req_a1 it's   wrong", "req_a1", { decision: "decline", message: "it's   wrong" }],
  ["decline --shown=h req_a1 no", "req_a1", { decision: "decline", message: "no" }],
  ["cancel req_a1 stop it", "req_a1", { decision: "cancel", message: "stop it" }],
  ['accept --input {"command":"ls"}', undefined, { decision: "accept", updated_input: { command: "ls" } }],
])("%s", (line, request, answer) => {
  expect(said(line)).toEqual({ request, answer });
});

test.each([
  ["answer 1=Red", { "Which colour?": "Red" }],
  ["answer req_a1 Colour=Red q2=7", { "Which colour?": "Red", q2: "7" }],
  ['answer "Which colour?"="dark blue"', { "Which colour?": "dark blue" }],
  ["answer 2=a 2=b 2=c", { q2: ["a", "b", "c"] }],
  ["answer 1=a=b", { "Which colour?": "a=b" }],
])("%s", (line, answers) => {
  expect(said(line, asks).answer).toEqual({ answers });
});

test.each([
  ["accept everything", /^everything: only a request id/],
  ["accept --input nonsense", /invalid JSON/],
  ["answer 3=x", /no question 3; there are 1 to 2/],
  ["answer Red", /expected QUESTION=TEXT/],
])("%s is a reported mistake", (line, message) => {
  expect(() => said(line, asks)).toThrow(message);
});

test("a question is not answered by a decision, nor a decision by answers", () => {
  const given = splitRequest(["1=x"], "");
  expect(() => toAnswers(given, one)).toThrow("asks no question");
  expect(toRefusal("decline", splitRequest([], ""))).toEqual({ decision: "decline" });
  expect(toDecision("accept", splitRequest([], ""))).toEqual({ decision: "accept" });
});

test("the request may be omitted if there is only one", () => {
  expect(pickRequest([one], undefined)).toBe(one);
  expect(() => pickRequest([], undefined)).toThrow("no pending requests");
  expect(() => pickRequest([one, two], undefined)).toThrow(
    /several requests match.*\n {2}req_a1 .*\n {2}req_a2 /,
  );
});

test("an id may be shortened if it is unambiguous", () => {
  expect(pickRequest([one, two], "req_a2")).toBe(two);
  expect(() => pickRequest([one, two], "req_a")).toThrow("several requests match");
  expect(() => pickRequest([one, two], "req_b")).toThrow("no pending request req_b");
  expect(pickRequest([one, pending({ request_id: "req_a10" })], "req_a1")).toBe(one);
});

test("an id names a request; a prefix that could be any word does not", () => {
  const row = pending({ request_id: "req_5a01f0d8" });
  const named = (id: string) => isNamed(splitRequest([id], ""), row);
  expect(["req_5a01f0d8", "req_5a01", "req_5a0", "req_", "x"].map(named)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(isNamed(splitRequest(["req_a1"], ""), one)).toBe(true);
});

test.each([
  [{ "Which colour?": "Red" }, { "Which colour?": "Red" }, true],
  [{ "Which colour?": "Red" }, { "Which colour?": ["Red"] }, true],
  [{ "Which colour?": "Red" }, { "Which colour?": "Blue" }, false],
  [{ "Which colour?": "Red" }, {}, false],
  [{ "Which colour?": "Red", q2: "s3cret" }, { "Which colour?": "Red", q2: "[secret]" }, true],
])("%j beside %j: the same answer is %s", (said, counts, isSame) => {
  expect(isSameAnswer({ answers: said }, { answers: counts }, asks)).toBe(isSame);
});

test("a decision is the same only with the same message and input", () => {
  const same = (a: Parameters<typeof isSameAnswer>[0], b: typeof a) => isSameAnswer(a, b, one);
  const input = { a: 1, b: [2] };
  expect(
    same(
      { decision: "accept", updated_input: input },
      { decision: "accept", updated_input: { b: [2], a: 1 } },
    ),
  ).toBe(true);
  expect(same({ decision: "accept", updated_input: input }, { decision: "accept" })).toBe(false);
  expect(same({ decision: "decline", message: "x" }, { decision: "decline", message: "y" })).toBe(false);
  expect(same({ decision: "accept" }, { answers: {} })).toBe(false);
});
