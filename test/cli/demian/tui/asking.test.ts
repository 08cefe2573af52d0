// What is asked, as rows of a screen: whole, with a hash of what is shown, and gone when its turn is.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Asking } from "../../../../src/cli/demian/tui/asking.ts";
import type { RequestRow } from "../../../../src/protocol/requests.ts";
import { RequestRow as RequestSchema } from "../../../../src/protocol/requests.ts";
import type { PermissionPrompt } from "../../../../src/runtime/permissions/types.ts";

const PROMPT: PermissionPrompt = {
  sessionId: "s",
  callId: "call_0",
  agent: "build",
  tool: "bash",
  title: "bash: ls",
  command: "ls",
  cwd: "/w",
  sandbox: "off",
  input: { command: "ls" },
};

function stage() {
  const told: RequestRow[] = [];
  const asking = new Asking({
    session_id: "s",
    nameOf: (callId) => `${callId}~2`,
    onChange: (row) => told.push(row),
  });
  const last = (): RequestRow => {
    const row = told.at(-1);
    if (row === undefined) throw new Error("nothing was asked");
    return row;
  };
  return { asking, told, last };
}

const never = new AbortController().signal;

describe("a permission", () => {
  test("is a row of the daemon's shape, with the hash of all that is shown and the call's name", () => {
    const { asking, last } = stage();
    void asking.permission(PROMPT, never);
    const row = last();
    expect(RequestSchema.parse(row)).toEqual(row);
    expect(row.shown_hash).toBe(createHash("sha256").update(JSON.stringify(row.payload)).digest("hex"));
    expect(row).toMatchObject({ request_type: "command", item_id: "call_0~2", status: "pending" });
    expect(row.payload.reason).toMatch(/^Sandbox off: .*everything you can/);
    expect(asking.waiting).toEqual({ permissions: 1, questions: 0 });
  });

  test("text is told byte by byte, whatever stands in it", () => {
    const { asking, last } = stage();
    const command = `echo "\u202e\u001b[2J" ${"x".repeat(100_000)}`;
    void asking.permission({ ...PROMPT, command }, never);
    expect(last().payload.command).toBe(command);
  });

  test("that the agent's own rules deny, and that another program runs, says so", () => {
    const { asking, last } = stage();
    void asking.permission({ ...PROMPT, widens: true, executor: "claudecode", reason: "a rule" }, never);
    expect(last().payload.reason).toMatch(
      /^a rule\nSandbox off: .*\n.*only you can allow it\.\nclaudecode runs it itself/,
    );
  });

  test("always is an answer only where it is offered", async () => {
    const { asking, last } = stage();
    const answer = asking.permission({ ...PROMPT, always: "exactly this" }, never);
    expect(last().payload.choices).toContainEqual({ decision: "acceptAlways", remembers: ["exactly this"] });
    asking.respond(last(), { decision: "acceptAlways" });
    expect(await answer).toEqual({ decision: "allow", always: true });
    void asking.permission(PROMPT, never);
    expect(() => asking.respond(last(), { decision: "acceptAlways" })).toThrow(/not offered/);
    expect(() => asking.respond(last(), { answers: { answer: "y" } })).toThrow(/not offered/);
  });

  test("is withdrawn with its turn, and then nothing is allowed", async () => {
    const { asking, told, last } = stage();
    const turn = new AbortController();
    const answer = asking.permission(PROMPT, turn.signal);
    turn.abort();
    expect(await answer).toEqual({ decision: "deny", stop: true });
    expect(told.map(({ status }) => status)).toEqual(["pending", "withdrawn"]);
    expect(() => asking.respond(last(), { decision: "accept" })).toThrow(/does not wait/);
    expect(await asking.permission(PROMPT, turn.signal)).toEqual({ decision: "deny", stop: true });
  });
});

describe("a question", () => {
  test("takes one of its options, or own words", async () => {
    const { asking, last } = stage();
    const first = asking.question({ text: "Which?\nThink.", options: ["red", "blue"] }, never);
    expect(last()).toMatchObject({ request_type: "user_input", payload: { title: "Which?" } });
    expect(last().payload.questions).toMatchObject([
      { question: "Which?\nThink.", options: [{ label: "red" }, { label: "blue" }], allows_other: true },
    ]);
    expect(asking.waiting).toEqual({ permissions: 0, questions: 1 });
    asking.respond(last(), { answers: { answer: ["blue"] } });
    expect(await first).toBe("blue");
    const second = asking.question({ text: "Why?" }, never);
    asking.respond(last(), { answers: { answer: " because " } });
    expect(await second).toBe("because");
  });

  test("that is declined has no answer", async () => {
    const { asking, last } = stage();
    const answer = asking.question({ text: "Why?" }, never);
    asking.respond(last(), { decision: "decline" });
    expect(await answer).toBeUndefined();
  });
});
