import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gate } from "../../support/gate.ts";
import type { FakeTurn } from "./fake-runtime.ts";
import { aborted, errorOf, Harness, selected } from "./harness.ts";

const CHANGES = [{ path: "src/a.ts", oldText: "a", newText: "b" }];

function request(turn: FakeTurn, callId: string, name = "bash", input: unknown = { command: "ls" }): void {
  turn.emit({ type: "tool.requested", callId, name, input });
}

function complete(turn: FakeTurn, callId: string, content: string, name = "bash"): void {
  turn.emit({ type: "tool.completed", callId, name, ok: true, preview: content, content, durationMs: 5 });
}

async function toolTurn(acp: Harness, script: (turn: FakeTurn) => Promise<undefined>) {
  const { sessionId } = await acp.open();
  acp.fakes.script = script;
  const answer = await acp.prompt(sessionId, "go");
  const updates = acp
    .updates(sessionId)
    .filter(({ sessionUpdate }) => sessionUpdate.startsWith("tool_call"))
    .map((update) => update as unknown as Record<string, unknown>);
  return { answer, updates };
}

describe("tool calls", () => {
  test("go from pending over in_progress to completed, an edit with its diff in absolute paths", async () => {
    const acp = await Harness.start();
    const input = { path: "src/a.ts", oldString: "a", newString: "b" };
    const { updates } = await toolTurn(acp, async (turn) => {
      request(turn, "c1", "edit_file", input);
      const title = "edit_file: src/a.ts";
      turn.emit({ type: "tool.started", callId: "c1", name: "edit_file", input, title, changes: CHANGES });
      complete(turn, "c1", "edited", "edit_file");
      return undefined;
    });
    const path = join(acp.cwd, "src/a.ts");
    const diff = { type: "diff", path, oldText: "a", newText: "b" };
    expect(updates).toMatchObject([
      { sessionUpdate: "tool_call", toolCallId: "c1", kind: "edit", status: "pending", rawInput: input },
      { status: "in_progress", title: "edit_file: src/a.ts", locations: [{ path }], content: [diff] },
      { status: "completed", content: [diff, { type: "content", content: { text: "edited" } }] },
    ]);
  });

  test("show the end of a running command's output, complete each time", async () => {
    const acp = await Harness.start();
    const shown = gate();
    void acp
      .update(
        (update) => update.sessionUpdate === "tool_call_update" && JSON.stringify(update).includes("end"),
      )
      .then(shown.open);
    const { updates } = await toolTurn(acp, async (turn) => {
      request(turn, "c1");
      turn.emit({
        type: "tool.started",
        callId: "c1",
        name: "bash",
        input: {},
        title: "bash: ls",
        sandbox: "off",
      });
      turn.emit({ type: "tool.output", callId: "c1", text: "x".repeat(20_000) });
      turn.emit({ type: "tool.output", callId: "c1", text: "end" });
      await shown.passed;
      complete(turn, "c1", "all");
      return undefined;
    });
    const live = updates.filter(({ status, content }) => status === "in_progress" && content);
    expect(live).toHaveLength(1);
    const text = JSON.stringify(live[0]);
    expect(text).toContain('xend"');
    expect(text.length).toBeLessThan(10_000);
  });

  test("that a model names alike twice get names of their own", async () => {
    const acp = await Harness.start();
    const { updates } = await toolTurn(acp, async (turn) => {
      for (const content of ["first", "second"]) {
        request(turn, "call_0");
        complete(turn, "call_0", content);
      }
      return undefined;
    });
    expect(updates.map(({ toolCallId }) => toolCallId)).toEqual(["call_0", "call_0", "call_0~2", "call_0~2"]);
  });

  test("that the loop leaves open are closed as failed before the answer", async () => {
    const acp = await Harness.start();
    const { answer, updates } = await toolTurn(acp, async (turn) => {
      request(turn, "c1");
      return undefined;
    });
    expect(answer.stopReason).toBe("end_turn");
    expect(updates.at(-1)).toMatchObject({ toolCallId: "c1", status: "failed" });
  });

  test("too large to show do not burst the connection", async () => {
    const acp = await Harness.start();
    const newText = "y".repeat(20_000_000);
    const { updates } = await toolTurn(acp, async (turn) => {
      const input = { path: "big.txt", content: newText };
      request(turn, "c1", "write_file", input);
      const changes = [{ path: "big.txt", newText }];
      turn.emit({ type: "tool.started", callId: "c1", name: "write_file", input, title: "t", changes });
      complete(turn, "c1", "written", "write_file");
      return undefined;
    });
    expect(JSON.stringify(updates).length).toBeLessThan(2_000_000);
    expect(JSON.stringify(updates)).toContain("too large to show");
  });
});

describe("permission", () => {
  const prompt = { callId: "c1", tool: "edit_file", title: "edit_file: src/a.ts", changes: CHANGES };

  async function asked(acp: Harness, always?: string) {
    const answers: unknown[] = [];
    await toolTurn(acp, async (turn) => {
      request(turn, "c1", "edit_file", { path: "src/a.ts" });
      answers.push(await turn.ask({ ...prompt, ...(always && { always }) }));
      return undefined;
    });
    return answers[0];
  }

  test("shows what will happen, after the client has received the call", async () => {
    const acp = await Harness.start();
    expect(await asked(acp)).toEqual({ decision: "allow" });
    const at = acp.frames.findIndex(({ method }) => method === "session/request_permission");
    const told = acp.frames.slice(0, at).map(({ params }) => params?.["update"]);
    expect(told).toContainEqual(expect.objectContaining({ sessionUpdate: "tool_call", toolCallId: "c1" }));
    expect(acp.permissions[0]).toMatchObject({
      toolCall: {
        toolCallId: "c1",
        title: "edit_file: src/a.ts",
        kind: "edit",
        locations: [{ path: join(acp.cwd, "src/a.ts") }],
        content: [{ type: "diff", oldText: "a", newText: "b" }],
      },
      options: [{ kind: "allow_once" }, { kind: "reject_once" }],
    });
  });

  test("always is offered only with a description of its scope", async () => {
    const acp = await Harness.start();
    acp.onPermission = () => selected("allow_always");
    expect(await asked(acp, "writes below src")).toEqual({ decision: "allow", always: true });
    expect(acp.permissions[0]?.options[1]).toEqual({
      optionId: "allow_always",
      kind: "allow_always",
      name: "Always allow: writes below src",
    });
  });

  test.each([
    ["reject_once", () => selected("reject_once")],
    ["always although it was not offered", () => selected("allow_always")],
    ["an unknown option", () => selected("yes please")],
    ["cancelled", () => ({ outcome: { outcome: "cancelled" as const } })],
    ["nonsense", () => ({ outcome: 7 }) as never],
    [
      "an error",
      () => {
        throw new Error("no dialog");
      },
    ],
  ])("%s is a refusal, and the turn continues", async (_name, answer) => {
    const acp = await Harness.start();
    acp.onPermission = answer;
    expect(await asked(acp)).toMatchObject({ decision: "deny" });
  });

  test("the user's reason for a refusal reaches the model", async () => {
    const acp = await Harness.start();
    acp.onPermission = () => ({ ...selected("reject_once"), _meta: { blemees: { reason: "use pnpm" } } });
    expect(await asked(acp)).toEqual({ decision: "deny", reason: "use pnpm" });
  });

  test("session/cancel withdraws an open request and the prompt is cancelled", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    const withdrawn = gate();
    acp.onPermission = (_request, signal) => {
      void aborted(signal).then(withdrawn.open);
      void acp.cancel(sessionId);
      // This client never answers.
      return new Promise(() => undefined);
    };
    let answer: unknown;
    acp.fakes.script = async (turn) => {
      request(turn, "c1");
      answer = await turn.ask(prompt);
      return undefined;
    };
    expect((await acp.prompt(sessionId, "go")).stopReason).toBe("cancelled");
    await withdrawn.passed;
    expect(answer).toMatchObject({ decision: "deny", stop: true });
    expect(acp.ofKind(sessionId, "tool_call_update").at(-1)).toMatchObject({ status: "failed" });
  });
});

describe("cancel", () => {
  test("ends a turn in the middle of its text, and the session continues", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    acp.fakes.script = async (turn) => {
      turn.say("half");
      await aborted(turn.signal);
      return undefined;
    };
    const prompted = acp.prompt(sessionId, "go");
    await acp.update(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    await acp.cancel(sessionId);
    expect((await prompted).stopReason).toBe("cancelled");
    acp.fakes.script = async () => undefined;
    expect((await acp.prompt(sessionId, "again")).stopReason).toBe("end_turn");
  });

  test("that is sent right after the prompt is not lost", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    acp.fakes.script = async (turn) => {
      await aborted(turn.signal);
      return undefined;
    };
    const prompted = acp.prompt(sessionId, "go");
    await acp.cancel(sessionId);
    expect((await prompted).stopReason).toBe("cancelled");
  });

  test("wins over a failure that it caused, and by $/cancel_request too", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    const stop = new AbortController();
    acp.fakes.script = async (turn) => {
      stop.abort();
      await aborted(turn.signal);
      return { outcome: "failed", failure: { kind: "network", message: "cut" } };
    };
    const prompt = [{ type: "text" as const, text: "go" }];
    const options = { cancellationSignal: stop.signal };
    expect(await acp.agent.request("session/prompt", { sessionId, prompt }, options)).toMatchObject({
      stopReason: "cancelled",
    });
  });

  test("without a prompt does nothing, also for an unknown session", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    await acp.cancel(sessionId);
    await acp.cancel("ses_nobody");
    expect((await acp.prompt(sessionId, "go")).stopReason).toBe("end_turn");
  });
});

describe("questions", () => {
  const ask = async (turn: FakeTurn) => {
    const answer = await turn.question?.({ text: "Which?", options: ["a", "b"] }, turn.signal);
    turn.say(`answer: ${answer}`);
    return undefined;
  };

  test("are forms where the client can show them", async () => {
    const acp = await Harness.start({ capabilities: { elicitation: { form: {} } } });
    const { sessionId } = await acp.open();
    let shown: unknown;
    acp.onElicitation = (params) => {
      shown = params;
      return { action: "accept", content: { answer: "b" } };
    };
    acp.fakes.script = ask;
    await acp.prompt(sessionId, "go");
    expect(shown).toMatchObject({
      mode: "form",
      sessionId,
      message: "Which?",
      requestedSchema: { properties: { answer: { enum: ["a", "b"] } }, required: ["answer"] },
    });
    expect(JSON.stringify(acp.ofKind(sessionId, "agent_message_chunk"))).toContain("answer: b");
  });

  test("that are declined, or cannot be shown, have no answer", async () => {
    const declining = await Harness.start({ capabilities: { elicitation: { form: {} } } });
    const blind = await Harness.start();
    for (const acp of [declining, blind]) {
      const { sessionId } = await acp.open();
      acp.fakes.script = ask;
      await acp.prompt(sessionId, "go");
      expect(JSON.stringify(acp.ofKind(sessionId, "agent_message_chunk"))).toContain("answer: undefined");
    }
    expect(blind.fakes.orders[0]?.question).toBeUndefined();
  });
});

test("an unknown session is -32002 for everything that needs one", async () => {
  const acp = await Harness.start();
  for (const sessionId of ["ses_doesnotexist1234", "../../etc", ""]) {
    const wanted = { code: -32002 };
    expect(await errorOf(acp.prompt(sessionId, "go"))).toMatchObject(wanted);
    const where = { sessionId, cwd: acp.cwd, mcpServers: [] };
    expect(await errorOf(acp.agent.request("session/load", where))).toMatchObject(wanted);
    expect(await errorOf(acp.agent.request("session/resume", where))).toMatchObject(wanted);
  }
});
