// How several agents, and agents with their own tools, are shown: from events to the screen.
import { beforeEach, describe, expect, test } from "vitest";
import { formatEvent } from "../../../src/cli/demian/event-lines.ts";
import { Progress } from "../../../src/cli/demian/progress.ts";
import { Screen } from "../../../src/cli/demian/screen.ts";
import type { EventBody, InvocationFields, RuntimeEvent } from "../../../src/runtime/events.ts";
import { MemorySink } from "../memory-sink.ts";

const EVIL = "\x1b[2Jrev\n● bash";
const about = { callId: "c1", targetAgent: "reviewer" };
const spent = { turns: 2, usage: { inputTokens: 900, outputTokens: 40, costUsd: 0.0123 }, durationMs: 4200 };
const started = {
  type: "agent.invocation.started",
  ...about,
  provider: "gemini-fast",
  model: "small",
  depth: 1,
  handoffTokens: 120,
} as const;
const completed = {
  type: "agent.invocation.completed",
  ...about,
  preview: "fine",
  resultTokens: 9,
  ...spent,
} as const;
const tool = (callId: string, name: string, title: string) =>
  ({ type: "tool.started", callId, name, input: {}, title }) as const;
const ended = (callId: string, name: string) =>
  ({ type: "tool.completed", callId, name, ok: true, preview: "", content: "", durationMs: 10 }) as const;

function event(body: EventBody, ...agentPath: string[]): RuntimeEvent {
  const who: InvocationFields = agentPath.length === 0 ? {} : { agentPath };
  return { sessionId: "s", agent: agentPath.at(-1) ?? "build", ts: 0, ...who, ...body };
}

describe("lines", () => {
  const line = (body: EventBody, ...path: string[]) => formatEvent(event(body, ...path), 80)?.text;

  test("a sub-agent's tools are indented below it with its name, by depth", () => {
    expect(line(tool("c2", "read_file", "read_file: a.ts"), "reviewer")).toBe("  reviewer ● read_file: a.ts");
    expect(line(ended("c2", "read_file"), "reviewer")).toBe("  reviewer   ✓ 0.0 s");
    expect(line(tool("c3", "bash", "bash: ls"), "reviewer", "linter")).toBe("    linter ● bash: ls");
  });

  test("its start names its model, its end its usage", () => {
    const begun = "  ▶ reviewer started (gemini-fast, small; about 120 tokens of context)";
    expect(line(started, "reviewer")).toBe(begun);
    // Reported by the sub-agent or by its caller.
    expect(line(started)).toBe(begun);
    expect(line(completed, "reviewer")).toBe(
      "  ✓ reviewer done: 2 turns, 900 tokens in, 40 out, $0.0123, 4.2 s",
    );
    const reason = "no more turns";
    expect(line({ type: "agent.invocation.failed", ...about, reason, ...spent }, "reviewer")).toMatch(
      /^ {2}✗ reviewer failed: no more turns \(2 turns, .*4\.2 s\)$/,
    );
    expect(line({ type: "agent.invocation.cancelled", ...about, reason, ...spent }, "reviewer")).toMatch(
      /^ {2}■ reviewer cancelled: no more turns/,
    );
  });

  test("a failure of its tool keeps its bar below its name", () => {
    const failed = { ...ended("c", "bash"), type: "tool.failed", ok: false, reason: "failed" } as const;
    expect(line({ ...failed, preview: "one\ntwo" }, "reviewer")).toBe(
      "  reviewer   ✗ failed, 0.0 s\n    │ one\n    │ two",
    );
  });

  test("tools of Claude Code have its badge, those of another program its name", () => {
    const bash = { ...tool("c", "Bash", "Bash: npm test"), qualifiedName: "claudecode.Bash" };
    expect(line({ ...bash, executor: "claudecode" })).toBe("● CC Bash: npm test");
    expect(line({ ...bash, executor: "toString" })).toBe("● toString Bash: npm test");
    const split = { type: "session.context.split", executor: "claudecode", reason: "model" } as const;
    expect(line({ ...split, message: "a new session: the model is another" })).toBe(
      "· CC a new session: the model is another",
    );
  });

  test("a denied sub-agent is shown as one", () => {
    const denied = {
      type: "permission.denied",
      callId: "c",
      targetType: "agent",
      targetName: "reviewer",
    } as const;
    expect(line({ ...denied, by: "user" })).toBe("✗ denied (user): agent reviewer");
  });

  test("no name affects the screen or begins its own row", () => {
    for (const body of [
      tool("c", "bash", "bash: ls"),
      { ...started, targetAgent: EVIL },
      { ...completed, targetAgent: EVIL },
      { ...tool("c", "x", "x"), executor: EVIL },
    ]) {
      const text = line(body, EVIL) ?? "";
      for (const control of ["\x1b", "\n"]) expect(text).not.toContain(control);
      expect(text).toContain("\\x1b[2Jrev\\n");
    }
  });
});

describe("on the screen", () => {
  let sink: MemorySink;
  let progress: Progress;
  const see = (body: EventBody, ...path: string[]) => progress.see(event(body, ...path));
  const child = (body: EventBody) => see(body, "reviewer");
  const request = (turn: number) =>
    ({
      type: "model.request",
      turn,
      provider: "p",
      model: "m",
      messages: 1,
      tools: 1,
      stream: true,
    }) as const;
  const delta = (text: string) => ({ type: "model.text.delta", text }) as const;

  beforeEach(() => {
    sink = new MemorySink(true);
    sink.columns = 100;
    const env = { NO_COLOR: "1" };
    progress = new Progress(new Screen({ stdout: sink, stderr: sink, env, isShared: true }));
  });

  test("a sub-agent's text is neither shown nor taken for the answer", () => {
    see(request(1));
    see(tool("c1", "delegate_agent", "delegate_agent: reviewer"));
    child(started);
    child(request(1));
    child(delta("SECRET"));
    child(delta(" WORDS"));
    child({ type: "model.text", text: "SECRET WORDS", final: true });
    expect(progress.hasShown("SECRET WORDS")).toBe(false);
    child(completed);
    see(ended("c1", "delegate_agent"));
    see(request(2));
    see(delta("All "));
    see(delta("fine."));
    expect(sink.text).toBe(
      [
        "● delegate_agent: reviewer",
        "  ▶ reviewer started (gemini-fast, small; about 120 tokens of context)",
        "  reviewer · writing…",
        "  ✓ reviewer done: 2 turns, 900 tokens in, 40 out, $0.0123, 4.2 s",
        "All fine.",
      ].join("\n"),
    );
    expect(progress.hasShown("All fine.")).toBe(true);
  });

  test("the main agent's text before and after a sub-agent is not joined", () => {
    see(request(1));
    see(delta("Let me ask."));
    see({ type: "model.text", text: "Let me ask.", final: false });
    child(request(1));
    child(delta("x"));
    see(request(2));
    see(delta("Done."));
    expect(progress.hasShown("Done.")).toBe(true);
    expect(progress.hasShown("Let me ask.Done.")).toBe(false);
  });

  test("an agent with its own loop makes no visible request: each of its texts starts a new one", () => {
    see({ type: "user.message", text: "hi" });
    see(delta("I look."));
    see({ type: "model.text", text: "I look.", final: false });
    see(delta("Done."));
    expect(progress.hasShown("Done.")).toBe(true);
    see({ type: "user.message", text: "again" });
    see(delta("Yes."));
    expect(progress.hasShown("Yes.")).toBe(true);
  });

  test("a delegation that never started is shown like any tool, and an end is shown once", () => {
    const failed = {
      ...ended("c1", "delegate_agent"),
      type: "tool.failed",
      ok: false,
      reason: "failed",
    } as const;
    see({ ...failed, preview: "there is no agent x" });
    expect(sink.text).toBe("  ✗ failed, 0.0 s\n  │ there is no agent x\n");
    child({ type: "agent.invocation.cancelled", ...about, reason: "stopped", ...spent });
    see({ ...failed, preview: "The agent reviewer was stopped" });
    expect(sink.text.match(/stopped/g)).toHaveLength(1);
  });
});
