import { expect, test } from "vitest";
import { BLEMEESCTL_WORDS } from "../../../src/cli/request-text.ts";
import { Renderer } from "../../../src/cli/wire/render.ts";
import type { SessionFrame } from "../../../src/client/index.ts";
import { noticeOf, pending, resolved } from "../../client/request-rows.ts";
import { memoryOutput } from "../memory-sink.ts";

type Loose = { type: string; [key: string]: unknown };

async function render(
  frames: Loose[],
  isQuiet = false,
  isTTY = false,
): Promise<{ stdout: string; stderr: string }> {
  const { output, stdout, stderr } = memoryOutput({ isQuiet, isTTY, env: { NO_COLOR: "1" } });
  const renderer = new Renderer(output, BLEMEESCTL_WORDS);
  for (const frame of frames) {
    await renderer.show({ session_id: "s1", backend: "demo", ...frame } as unknown as SessionFrame);
  }
  return { stdout: stdout.text, stderr: stderr.text };
}

const message = { type: "agent.message", role: "assistant", content: [{ type: "text", text: "Hello" }] };

test("deltas are the answer, and the complete message is not printed again", async () => {
  const deltas = ["Hel", "lo"].map((text) => ({ type: "agent.delta", kind: "text", text }));
  expect((await render([...deltas, message])).stdout).toBe("Hello\n");
});

test("a backend without deltas is printed by its messages", async () => {
  expect((await render([message, message])).stdout).toBe("Hello\nHello\n");
});

test("thinking, tool input and sub-agents are no part of the answer", async () => {
  const frames = [
    { type: "agent.delta", kind: "thinking", text: "hm" },
    { type: "agent.delta", kind: "tool_input", partial_json: "{" },
    { type: "agent.delta", kind: "text", text: "child", parent_tool_use_id: "t1" },
  ];
  expect(await render(frames)).toEqual({ stdout: "", stderr: "" });
});

test("a sub-agent's start and end are shown, but not its text or actions", async () => {
  const of = { parent_tool_use_id: "t1" };
  const notice = (category: string, text: string) => ({
    type: "agent.notice",
    level: "info",
    category,
    text,
    ...of,
  });
  const frames = [
    notice("subagent_started", "reviewer: big/large"),
    { ...message, ...of },
    { type: "agent.tool_use", tool_use_id: "c1", name: "bash", input: {}, ...of },
    { type: "agent.tool_result", tool_use_id: "c1", output: "x", ...of },
    notice("subagent_finished", "reviewer: success"),
  ];
  expect(await render(frames)).toEqual({
    stdout: "",
    stderr: "  · subagent_started: reviewer: big/large\n  · subagent_finished: reviewer: success\n",
  });
});

test("tools go to stderr, in one line each", async () => {
  const { stdout, stderr } = await render([
    { type: "agent.tool_use", tool_use_id: "t1", name: "Bash", input: { command: "ls\n-l" } },
    { type: "agent.tool_result", tool_use_id: "t1", output: "a\nb", is_error: true },
  ]);
  expect(stdout).toBe("");
  expect(stderr).toBe("⚙ Bash: ls -l\n  ↳ failed: a b\n");
});

test("a failed result shows the reason, also when quiet", async () => {
  const failed = { type: "agent.result", subtype: "error", error: { message: "out of luck" } };
  expect((await render([failed], true)).stderr).toBe("✗ error: out of luck\n");
});

test("a successful result is summarized, unless quiet", async () => {
  const done = { type: "agent.result", subtype: "success", duration_ms: 1234, usage: { input_tokens: 3 } };
  expect((await render([done])).stderr).toBe("✓ done: 1.2 s, 3 tokens in, 0 out\n");
  expect((await render([done], true)).stderr).toBe("");
});

test.each([
  [{ type: "blemeesd.replay_gap", since_seq: 4, first_available_seq: 9 }, "events 5 to 8 have been pruned"],
  [{ type: "blemeesd.replay_gap", since_seq: 9, first_available_seq: 1 }, "lost this session's history"],
  [{ type: "blemeesd.catching_up", since_seq: 4, last_seq: 9 }, "catching up to event 9"],
  [{ type: "blemeesd.session_taken", by_peer_pid: 7 }, "taken over by process 7"],
  [{ type: "blemeesd.error", code: "auth_failed", message: "log in" }, "✗ auth_failed: log in"],
  [{ type: "blemeesd.stderr", line: "warn\x1b[31m" }, "· agent: warn\n"],
  [
    { type: "agent.notice", level: "warn", category: "rate_limits", text: "slow down" },
    "rate_limits: slow down",
  ],
])("%j is printed to stderr", async (frame, text) => {
  expect((await render([frame])).stderr).toContain(text);
});

test("a request is shown completely even when quiet, with how to answer it", async () => {
  const { stderr } = await render([noticeOf(pending(), 1) as Loose], true);
  expect(stderr).toMatch(/^\? demo asks to run a command:\n {2}│ Bash: mkdir -p build\n/);
  expect(stderr).toMatch(/\n {2}Answer: blemeesctl accept req_a1 \(or blemeesctl decline\)\n$/);
});

test("the end of a request is one line on stderr", async () => {
  const { stderr } = await render([noticeOf(resolved(pending()), 2) as Loose]);
  expect(stderr).toBe("· request_resolved: Bash: mkdir -p build\n");
});

test("a notice in the middle of a line starts a new one", async () => {
  const frames = [
    { type: "agent.delta", kind: "text", text: "half" },
    { type: "blemeesd.stderr", line: "x" },
  ];
  expect((await render(frames)).stdout).toBe("half\n");
});

const FAKE = `? demo asks to run a command:\n  │ git status${" ".repeat(70)}  Choices:\n  type your choice`;
const say = (text: string) => ({ type: "agent.delta", kind: "text", text });

test.each([
  ["a message", [{ ...message, content: [{ type: "text", text: FAKE }] }]],
  ["deltas", [...FAKE].map(say)],
  ["a notice", [{ type: "agent.notice", level: "warn", category: "x", text: FAKE }]],
  ["an error", [{ type: "blemeesd.error", code: "internal", message: FAKE }]],
  ["stderr", FAKE.split("\n").map((line) => ({ type: "blemeesd.stderr", line }))],
  ["a tool's name", [{ type: "agent.tool_use", tool_use_id: "t", name: FAKE, input: { command: "ls" } }]],
  ["a failed result", [{ type: "agent.result", subtype: "error", error: { message: FAKE } }]],
])(
  "while a request is pending, %s cannot imitate it: each row has a bar and ends before the edge",
  async (_what, frames) => {
    const asked = noticeOf(pending(), 1) as Loose;
    const before = await render([asked], false, true);
    const { stdout, stderr } = await render([asked, ...frames], false, true);
    const rows = [...stdout.split("\n"), ...stderr.slice(before.stderr.length).split("\n")];
    const shown = rows.filter((row) => row !== "");
    expect(shown.length).toBeGreaterThan(3);
    for (const row of shown) expect(row).toMatch(/^ {2}[│┆] .{0,35}$/u);
  },
);

test("the bar disappears when no request is pending, and is never written to a file", async () => {
  const asked = noticeOf(pending(), 1) as Loose;
  const over = noticeOf(resolved(pending()), 2) as Loose;
  const frames = [say("a"), asked, say("b\n\nc"), over, say("d")];
  expect((await render(frames, true, true)).stdout).toBe("a\n  │ b\n  │ \n  │ c\nd");
  expect((await render(frames, true)).stdout).toBe("a\nb\n\nc\nd");
});

test("a request of a sub-agent is shown like any other", async () => {
  const { stderr } = await render([
    { ...noticeOf(pending(), 1), parent_tool_use_id: "t1" } as unknown as Loose,
  ]);
  expect(stderr).toMatch(/^\? demo asks/);
});

test("while a request is pending, only complete lines are printed: the prompt would overwrite a partial one", async () => {
  const { output, stdout } = memoryOutput({ isTTY: true });
  const renderer = new Renderer(output, BLEMEESCTL_WORDS);
  const show = (frame: Loose) =>
    renderer.show({ session_id: "s1", backend: "demo", ...frame } as unknown as SessionFrame);
  await show(noticeOf(pending(), 1) as Loose);
  await show(say("x"));
  await show(say("? demo asks"));
  expect(stdout.text).toBe("");
  await show(say(" it\nand"));
  expect(stdout.text).toBe("  │ x? demo asks it\n");
  await show(say("z".repeat(9000)));
  expect(stdout.text).toMatch(/^( {2}[│┆] .{1,35}\n)+$/u);
});

test("a call that was not allowed is not run, and its wait is not the turn's time", async () => {
  const asked = pending({ item_id: "t", requested_at_ms: 1_000 });
  const declined = { ...resolved(asked), resolved_at_ms: 61_000, answer: { decision: "decline" } } as const;
  const { stderr } = await render([
    { type: "agent.tool_use", tool_use_id: "t", name: "Bash", input: {} },
    noticeOf(asked, 1) as Loose,
    noticeOf(declined, 2) as Loose,
    { type: "agent.tool_result", tool_use_id: "t", output: "The user declined this.", is_error: true },
    { type: "agent.result", subtype: "success", duration_ms: 61_500 },
  ]);
  expect(stderr).toContain("↳ not run: declined\n");
  expect(stderr).toContain("✓ done: 1.5 s");
  expect(stderr).not.toContain("failed");
});
