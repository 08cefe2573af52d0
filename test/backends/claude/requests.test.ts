// What claude asks, as recorded, becomes what the user sees; and each answer becomes what claude expects.
import { describe, expect, test } from "vitest";
import {
  type ClaudeAsk,
  type Place,
  toClaudeAsk,
  toResponse,
} from "../../../src/backends/claude/requests.ts";
import type { Ask } from "../../../src/backends/types.ts";
import { RequestPayload } from "../../../src/protocol/requests.ts";
import { openPending } from "./pending-channel.ts";
import { readTraces } from "./traces.ts";

const CWD = "/home/user/project";
const PLACE: Place = {
  cwd: CWD,
  configDir: "/home/user/.claude",
  settings: {
    userSettings: "/home/user/.claude/settings.json",
    projectSettings: `${CWD}/.claude/settings.json`,
    localSettings: `${CWD}/.claude/settings.local.json`,
  },
  disk: { exists: (path) => path.endsWith("old.txt"), readText: () => undefined },
};

/** All requests of a recorded conversation. */
function asksOf(name: string): Ask[] {
  const asks: Ask[] = [];
  const { take } = openPending({
    place: () => PLACE,
    ask: (ask) => asks.push(ask),
    withdrawn: () => undefined,
    write: () => Promise.resolve(),
  });
  for (const { dir, msg } of readTraces().find((trace) => trace.name === name)?.steps ?? []) {
    if (dir === "in") take(msg);
  }
  for (const ask of asks) expect(RequestPayload.safeParse(ask.payload).error).toBeUndefined();
  return asks;
}

function asked(tool_name: string, input: object, more: object = {}): ClaudeAsk {
  const body = { subtype: "can_use_tool", tool_name, input, tool_use_id: "t1", ...more };
  const found = toClaudeAsk({ request_id: "r1", body }, PLACE);
  if (found === undefined) throw new Error("nothing was asked");
  return found;
}

const RULES = (destination: string, ruleContent = "mkdir x") => ({
  type: "addRules",
  rules: [{ toolName: "Bash", ruleContent }],
  behavior: "allow",
  destination,
});
const MODE = { type: "setMode", mode: "acceptEdits", destination: "session" };
const bash = (...permission_suggestions: object[]) =>
  asked("Bash", { command: "mkdir x" }, { permission_suggestions });
const decisionsOf = ({ ask }: ClaudeAsk) => ask.payload.choices.map((choice) => choice.decision);

describe("recorded requests", () => {
  test("a command is shown whole, with what each choice remembers and writes", () => {
    const asks = asksOf("13-can-use-tool");
    expect(asks).toHaveLength(5);
    const command = `mkdir -p ${CWD}/d1`;
    expect(asks[0]).toMatchObject({
      native_id: "2c3e2a2f-138f-4074-a557-44883ac1d800",
      request_type: "command",
      item_id: "toolu_016bb01b9057423e88f69c52",
      payload: {
        title: `Bash: ${command}`,
        reason: "mock command",
        command,
        cwd: CWD,
        tool_name: "Bash",
        input: { command, description: "mock command" },
        details: { blocked_path: `${CWD}/d1` },
      },
    });
    expect(asks[0]).not.toHaveProperty("path");
    const remembers = [`allow Bash(${command})`];
    const mode = expect.stringMatching(/^switch to permission mode acceptEdits: /);
    expect(asks[0]?.payload.choices).toEqual([
      { decision: "accept", takes: ["updated_input"] },
      { decision: "acceptForSession", remembers },
      {
        decision: "acceptAlways",
        remembers,
        writes: [
          { path: `${CWD}/.claude/settings.local.json`, content: `permissions.allow += Bash(${command})` },
        ],
      },
      { decision: "acceptForSession", option: "directories", remembers: [`allow work in ${CWD}`] },
      { decision: "acceptForSession", option: "mode-acceptEdits", remembers: [mode] },
      { decision: "decline", takes: ["message"] },
      { decision: "cancel", takes: ["message"] },
    ]);
  });

  test("a question is asked with its options; the id of its answer is its text", () => {
    expect(asksOf("14-ask-user-question")).toMatchObject([
      {
        request_type: "user_input",
        payload: {
          title: "Question: Which color?",
          questions: [
            {
              id: "Which color?",
              question: "Which color?",
              header: "Color",
              options: [
                { label: "Red", description: "warm" },
                { label: "Blue", description: "cold" },
              ],
              allows_other: true,
            },
          ],
          choices: [{ decision: "accept" }, { decision: "decline" }, { decision: "cancel" }],
        },
      },
    ]);
  });

  test("the end of plan mode shows the plan, and that it will be written down", () => {
    const plan = "1. Do it\n2. Check it";
    const [ask] = asksOf("15-plan-mode-exit");
    expect(ask).toMatchObject({
      request_type: "plan",
      payload: { plan, title: "Plan: 1. Do it 2. Check it" },
    });
    expect(ask?.payload.choices).toEqual([
      {
        decision: "accept",
        takes: ["updated_input"],
        writes: [{ path: "/home/user/.claude/plans/<name>.md", content: plan }],
      },
      { decision: "decline", takes: ["message"] },
      { decision: "cancel", takes: ["message"] },
    ]);
  });

  test("a sub-agent of a sub-agent is named with all above it", () => {
    const [ask] = asksOf("54-approval-of-nested-agent");
    expect(ask?.path).toEqual(["general-purpose: outer one", "general-purpose: inner one"]);
  });

  test("changes of files come with their paths and diffs, other tools with their input", () => {
    const [write, edit, fetch] = asksOf("56-approval-of-file-changes");
    expect(write?.request_type).toBe("file_change");
    expect(write?.payload.changes).toEqual([
      { path: `${CWD}/new.txt`, kind: "add", diff: "@@ the whole file @@\n+a\n+b" },
    ]);
    expect(edit?.payload.changes).toEqual([
      { path: `${CWD}/old.txt`, kind: "update", diff: "@@\n one\n-two\n+2" },
    ]);
    expect([write, edit].map((asked) => asked?.payload.title)).toEqual([
      `Write: new file ${CWD}/new.txt`,
      `Edit: ${CWD}/old.txt`,
    ]);
    expect(edit?.payload.choices.map((choice) => choice.decision)).not.toContain("acceptAlways");
    expect(fetch).toMatchObject({
      request_type: "tool",
      payload: {
        title: "WebFetch: http://example.com/x",
        input: { url: "http://example.com/x", prompt: "hi" },
      },
    });
  });
});

describe("choices", () => {
  test("without suggestions there is nothing to remember", () => {
    expect(decisionsOf(bash())).toEqual(["accept", "decline", "cancel"]);
  });

  test("a suggestion that only the process would remember is not `always`", () => {
    expect(decisionsOf(bash(MODE, RULES("session")))).not.toContain("acceptAlways");
    expect(
      decisionsOf(bash({ ...MODE, mode: "bypassPermissions", destination: "userSettings" })),
    ).not.toContain("acceptAlways");
  });

  test("a suggestion that is not understood is not shown, and so never sent", () => {
    const odd = asked(
      "Bash",
      { command: "x" },
      { permission_suggestions: [{ type: "grantAll" }, 7, RULES("moon")] },
    );
    expect(decisionsOf(odd)).toEqual(["accept", "decline", "cancel"]);
    expect(toResponse(odd, { decision: "acceptAlways" })).not.toHaveProperty("updatedPermissions");
  });

  test("nor is a field that is not understood, in a suggestion that is", () => {
    const odd = bash({ ...RULES("localSettings"), until: "forever" });
    for (const decision of ["acceptForSession", "acceptAlways"] as const) {
      expect(JSON.stringify(toResponse(odd, { decision }))).not.toContain("forever");
    }
  });

  test("a change is shown with the whole input, including unknown fields", () => {
    const input = { file_path: "/f", old_string: "a", new_string: "b", afterwards: "x".repeat(5000) };
    const { payload } = asked("Edit", input).ask;
    expect(payload.changes).toHaveLength(1);
    expect(payload.input).toEqual(input);
  });
});

describe("answers", () => {
  const input = { command: "mkdir x" };

  test.each([
    [{ decision: "accept" }, { behavior: "allow", updatedInput: input }],
    [
      { decision: "accept", updated_input: { command: "ls" } },
      { behavior: "allow", updatedInput: { command: "ls" } },
    ],
    [
      { decision: "acceptForSession" },
      { behavior: "allow", updatedInput: input, updatedPermissions: [RULES("session")] },
    ],
    [
      { decision: "acceptForSession", option: "mode-acceptEdits" },
      { behavior: "allow", updatedInput: input, updatedPermissions: [MODE] },
    ],
    [
      { decision: "acceptForSession", option: "nothing" },
      { behavior: "allow", updatedInput: input },
    ],
    [
      { decision: "acceptAlways" },
      {
        behavior: "allow",
        updatedInput: input,
        updatedPermissions: [RULES("localSettings"), RULES("session")],
      },
    ],
    [
      { decision: "decline", message: "not now" },
      { behavior: "deny", message: "not now" },
    ],
    [{ decision: "decline" }, { behavior: "deny", message: "The user declined this." }],
    [
      { decision: "cancel", message: "stop" },
      { behavior: "deny", message: "stop", interrupt: true },
    ],
  ] as const)("%j becomes %j", (answer, response) => {
    expect(toResponse(bash(RULES("localSettings"), MODE), answer)).toEqual(response);
  });

  test("an input that was edited to nothing is refused: claude would run the original", () => {
    expect(toResponse(bash(), { decision: "accept", updated_input: {} })).toMatchObject({ behavior: "deny" });
  });

  test("answers go under the text of their question, several labels with commas", () => {
    const questions = [{ question: "Which?", header: "W", options: [{ label: "A" }], multiSelect: true }];
    const question = asked("AskUserQuestion", { questions });
    expect(toResponse(question, { answers: { "Which?": ["A", "B"] } })).toEqual({
      behavior: "allow",
      updatedInput: { questions, answers: { "Which?": "A, B" } },
    });
    expect(toResponse(question, { decision: "decline" })).toMatchObject({ behavior: "deny" });
  });

  test("answers allow no tool, and a bare accept answers no question", () => {
    expect(toResponse(bash(), { answers: { a: "yes" } })).toMatchObject({ behavior: "deny" });
    const question = asked("AskUserQuestion", { questions: [{ question: "Which?" }] });
    expect(toResponse(question, { decision: "accept" })).toMatchObject({ behavior: "deny" });
  });
});

describe("what the user reads", () => {
  test("the name of the file is no reason, what a command is for is one", () => {
    const edit = { file_path: "/w/app.ts", old_string: "a", new_string: "b" };
    expect(asked("Edit", edit, { description: "app.ts" }).ask.payload).not.toHaveProperty("reason");
    expect(asked("Edit", edit, { description: "fix it" }).ask.payload.reason).toBe("fix it");
    expect(asked("Bash", { command: "ls" }, { description: "list" }).ask.payload.reason).toBe("list");
  });

  test("a long command is cut in the title only, and a title is one line", () => {
    const command = `echo a\n${"b".repeat(1000)}`;
    const { payload } = asked("Bash", { command }).ask;
    expect(payload.command).toBe(command);
    expect(payload.title).toMatch(/^Bash: echo a b+…$/);
    expect(payload.title.length).toBeLessThanOrEqual(201);
  });

  test("two questions with the same text are ambiguous, so they are shown as a tool", () => {
    const questions = [{ question: "Which?" }, { question: "Which?" }];
    expect(asked("AskUserQuestion", { questions }).ask.request_type).toBe("tool");
  });

  test("claude's reason goes before the tool's own description", () => {
    const more = { decision_reason: "outside of the project", description: "makes a directory" };
    expect(asked("Bash", { command: "x" }, more).ask.payload.reason).toBe("outside of the project");
  });
});
