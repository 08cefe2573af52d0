// Requests of the ledger for the program's canUseTool, and its answers.
import { expect, test } from "vitest";
import { readToolAnswer, toToolRequest } from "../../../src/cli/claude/permissions.ts";
import type { RequestRow } from "../../../src/client/index.ts";

const row = (payload: object): RequestRow =>
  ({ request_id: "r", item_id: "toolu_1", payload: { choices: [], ...payload } }) as unknown as RequestRow;
const bash = row({
  tool_name: "Bash",
  input: { command: "ls" },
  details: { permission_suggestions: [] },
  choices: [
    { decision: "accept" },
    { decision: "acceptForSession", option: "rule" },
    { decision: "decline" },
  ],
});

test("the program gets the request as claude made it; limits of the daemon are not its business", () => {
  expect(toToolRequest(bash)).toEqual({
    subtype: "can_use_tool",
    tool_name: "Bash",
    input: { command: "ls" },
    permission_suggestions: [],
    tool_use_id: "toolu_1",
  });
  expect(toToolRequest(row({ title: "budget" }))).toBeUndefined();
});

test.each([
  [{ behavior: "allow", updatedInput: { command: "ls" } }, { decision: "accept" }],
  [
    { behavior: "allow", updatedInput: { command: "pwd" } },
    { decision: "accept", updated_input: { command: "pwd" } },
  ],
  [
    { behavior: "deny", message: "no" },
    { decision: "decline", message: "no" },
  ],
  [{ behavior: "deny", interrupt: true }, { decision: "cancel" }],
  [
    { behavior: "allow", updatedPermissions: [{ destination: "session" }] },
    { decision: "acceptForSession", option: "rule" },
  ],
])("%j", (response, answer) => {
  expect(readToolAnswer(bash, response)).toEqual({ answer });
});

test("a permission that has no choice allows only this call, and says so; nonsense answers nothing", () => {
  const forever = { behavior: "allow", updatedPermissions: [{ destination: "userSettings" }] };
  expect(readToolAnswer(bash, forever)).toMatchObject({
    answer: { decision: "accept" },
    note: expect.stringMatching(/none of its choices/),
  });
  expect(readToolAnswer(bash, { behavior: "maybe" })).toBeUndefined();
});

test("answers to questions are found by their text", () => {
  const asked = row({ tool_name: "AskUserQuestion", questions: [{ id: "Which?", question: "Which?" }] });
  const response = { behavior: "allow", updatedInput: { answers: { "Which?": "Blue" } } };
  expect(readToolAnswer(asked, response)).toEqual({ answer: { answers: { "Which?": "Blue" } } });
});
