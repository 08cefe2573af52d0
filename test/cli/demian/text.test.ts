// Parsing of input and formatting of output, without a terminal.
import { describe, expect, test } from "vitest";
import { readTyped } from "../../../src/cli/demian/chat-commands.ts";
import { upgradeText } from "../../../src/cli/demian/doctor/upgrade.ts";
import { formatEvent } from "../../../src/cli/demian/event-lines.ts";
import { createAsker, formatPrompt, readAnswer } from "../../../src/cli/demian/permission.ts";
import type { Screen } from "../../../src/cli/demian/screen.ts";
import { resolveSettings, toPreferences, withModel, withProvider } from "../../../src/cli/demian/settings.ts";
import type { Terminal } from "../../../src/cli/demian/terminal.ts";
import { AgentRegistry } from "../../../src/runtime/agents/registry.ts";
import { DemianConfig } from "../../../src/runtime/config/schema.ts";
import type { EventBody, RuntimeEvent } from "../../../src/runtime/events.ts";

describe("typed", () => {
  test.each([
    ["", { kind: "empty" }],
    ["  fix it  ", { kind: "message", text: "fix it" }],
    ["/etc/hosts is wrong", { kind: "message", text: "/etc/hosts is wrong" }],
    [" /exit is a command", { kind: "message", text: "/exit is a command" }],
    ["/quit", { kind: "command", name: "/exit", word: undefined }],
    ["/model gpt 5 ", { kind: "command", name: "/model", word: "gpt 5" }],
    ["/exit now", { kind: "unknown", message: expect.stringContaining("takes no arguments"), isNear: true }],
    [
      "/compcat",
      { kind: "unknown", message: expect.stringContaining("did you mean /compact?"), isNear: true },
    ],
    [
      "/tmp is full",
      { kind: "unknown", message: expect.stringContaining("start with a space"), isNear: false },
    ],
  ])("%j", (text, typed) => {
    expect(readTyped(text)).toEqual(typed);
  });
});

describe("an answer", () => {
  test.each([
    ["y", { decision: "allow" }],
    [" YES ", { decision: "allow" }],
    ["a", { decision: "allow", always: true }],
    ["", { decision: "deny" }],
    ["n", { decision: "deny" }],
    ["no, use make", { decision: "deny", reason: "use make" }],
    ["/stop", { decision: "deny", stop: true }],
    ["/exit", "leave"],
  ])("%j is understood", (text, answer) => {
    expect(readAnswer(text, true)).toEqual(answer);
  });

  test.each(["yy", "yes please", "y n", "ok", "always yes", "1", "nope", "ja", "y\nrm"])(
    "%j approves nothing and asks again",
    (text) => {
      expect(readAnswer(text, true)).toMatch(/^answer y, n/);
    },
  );

  test("always does not count if it is not offered", () => {
    expect(readAnswer("a", false)).toMatch(/not available/);
  });

  test("rows that the screen would wrap begin with a mark", () => {
    const prompt = { sessionId: "s", callId: "c", agent: "build", tool: "bash", title: "bash", input: {} };
    const rows = formatPrompt({ ...prompt, command: `echo ${"x".repeat(90)}` }, 40);
    expect(rows.every((row) => row.length < 40)).toBe(true);
    expect(rows.filter((row) => row.startsWith("  ┆ x")).length).toBe(2);
  });
});

describe("settings", () => {
  const agents = new AgentRegistry();
  const agent = {
    description: "d",
    mode: "primary",
    prompt: { system: "s" },
    tools: { visible: [] },
    permissions: [],
  } as const;
  const source = { scope: "builtin", trusted: true } as const;
  agents.register({ ...agent, name: "build", tools: { visible: [] }, permissions: [] }, source);
  agents.register(
    { ...agent, name: "bound", tools: { visible: [] }, permissions: [], provider: { profile: "b" } },
    source,
  );
  const providers = ["a", "b"].map((key) => ({ key, type: "t", model: `${key}-model`, isReady: true }));
  const runtime = { agents, providers, config: DemianConfig.parse({ defaultProvider: "a" }) };
  const said = { cwd: "/", flags: {}, yes: false, dryRun: false };
  const resolve = (order: object, saved: object) => {
    const { provider, model } = resolveSettings(runtime, { ...said, ...order }, saved);
    return `${provider.value} ${provider.source}, ${model.value} ${model.source}`;
  };

  test.each([
    [{}, {}, "a config, a-model config"],
    [{}, { provider: "b", model: "x" }, "b saved, x saved"],
    [{}, { provider: "gone", model: "x" }, "a config, a-model config"],
    [{ provider: "b" }, { provider: "a", model: "x" }, "b flag, b-model config"],
    [{ provider: "b" }, { provider: "b", model: "x" }, "b flag, x saved"],
    [{ model: "y" }, { provider: "b", model: "x" }, "b saved, y flag"],
    [{ agent: "bound" }, { provider: "a", model: "x" }, "b config, b-model config"],
    [{ agent: "bound", provider: "a" }, {}, "a flag, a-model config"],
  ])("of %j with %j saved are %s", (order, saved, expected) => {
    expect(resolve(order, saved)).toBe(expected);
  });

  test("only a choice made just now is remembered: flags apply to the run", () => {
    const of = (order: object) => resolveSettings(runtime, { ...said, ...order }, {});
    expect(toPreferences(of({}))).toBeUndefined();
    expect(toPreferences(of({ model: "y" }))).toBeUndefined();
    expect(toPreferences(of({ provider: "b", model: "y" }))).toBeUndefined();
    expect(toPreferences(withModel(of({ provider: "b" }), "z"))).toBeUndefined();
    expect(toPreferences(withModel(of({ model: "y" }), "z"))).toEqual({ provider: "a", model: "z" });
    expect(toPreferences(withProvider(of({ provider: "a" }), runtime, "b"))).toEqual({
      provider: "b",
      model: "b-model",
    });
  });
});

describe("progress", () => {
  const line = (event: EventBody) =>
    formatEvent({ sessionId: "s", agent: "build", ts: 0, ...event } as RuntimeEvent, 80)?.text;

  test("a tool is named with its sandbox, and its changes are counted", () => {
    const title = "bash: echo \x1b[2J\nls";
    expect(
      line({ type: "tool.started", callId: "c", name: "bash", input: {}, title, sandbox: "linux-bwrap" }),
    ).toBe("● bash: echo \\x1b[2J\\nls  [linux-bwrap]");
    const changes = [{ path: "a.ts", oldText: "1\n2\n3\n", newText: "1\n2b\n2c\n3\n" }];
    const done = {
      type: "tool.completed",
      callId: "c",
      name: "edit_file",
      ok: true,
      preview: "",
      content: "",
    } as const;
    expect(line({ ...done, durationMs: 1234, metadata: { changes } })).toBe("  ✓ a.ts (+2 −1), 1.2 s");
  });

  test("a denial is shown once, a failure with the end of its output", () => {
    const failed = {
      type: "tool.failed",
      callId: "c",
      name: "bash",
      ok: false,
      content: "",
      durationMs: 10,
    } as const;
    expect(line({ ...failed, reason: "denied", preview: "no" })).toBeUndefined();
    expect(line({ ...failed, reason: "failed", preview: "a\nb\x07", metadata: { exitCode: 2 } })).toBe(
      "  ✗ exit 2, 0.0 s\n  │ a\n  │ b\\x07",
    );
  });

  test("retries, hook warnings and compaction are shown", () => {
    const retry = { attempt: 1, maxAttempts: 4, delayMs: 2000, reason: "429" };
    expect(line({ type: "provider.retry", provider: "openai", ...retry })).toBe(
      "! openai: 429; retrying in 2.0 s (1 of 4)",
    );
    expect(line({ type: "hook.fired", hook: "h", event: "PreToolUse", decision: "allow" })).toBeUndefined();
    expect(
      line({ type: "hook.fired", hook: "h", event: "PreToolUse", decision: "block", message: "no" }),
    ).toBe("! hook h blocked it: no");
  });
});

describe("doctor policies", () => {
  const tools = ["bash", "read_file"];

  test("names in rules get their namespace, and the layout stays", () => {
    const text = `{
  "permissions": [{ "decision": "deny", "tool" : "bash" },
    {"tool":"demian.bash"}, {"tool":"*"}, {"tool":"claudecode.Bash"}, {"tool":"bsah"}],
  "agents": { "x": { "permissions": [{"tool": "read_file"}], "authority": {"permissions": [{"tool":"bash"}], "tools":["bash"]},
    "prompt": {"system": "\\"tool\\": \\"bash\\", [{"}, "tools": {"visible": ["bash"]} } },
  "hooks": [{"match": {"tool": "bash"}}]
}`;
    const { text: after, renamings, unknown } = upgradeText(text, tools);
    expect(renamings.map(({ place }) => place)).toEqual([
      "permissions[0].tool",
      "agents.x.permissions[0].tool",
      "agents.x.authority.permissions[0].tool",
    ]);
    expect(unknown).toEqual([{ place: "permissions[4].tool", name: "bsah" }]);
    const expected = text
      .replace('"tool" : "bash"', '"tool" : "demian.bash"')
      .replace('{"tool": "read_file"}', '{"tool": "demian.read_file"}')
      .replace('{"permissions": [{"tool":"bash"}]', '{"permissions": [{"tool":"demian.bash"}]');
    expect(after).toBe(expected);
    expect(upgradeText(after, tools).renamings).toEqual([]);
  });
});

test("d shows a change that is too long for the prompt completely, and asks again", async () => {
  const asked: string[] = [];
  const answers = ["d", "y"];
  const screen = { columns: 80, ask: (text: string) => void asked.push(text) } as unknown as Screen;
  const keyboard = { ask: () => Promise.resolve({ kind: "line", text: answers.shift() ?? "" }) };
  const ask = createAsker({ screen, terminal: () => keyboard as unknown as Terminal });
  const changes = [{ path: "a", newText: "x\n".repeat(1000) }];
  const names = { sessionId: "s", callId: "c", agent: "build", tool: "write_file", title: "write_file: a" };
  const answer = await ask({ ...names, input: {}, changes }, new AbortController().signal);
  expect(answer).toEqual({ decision: "allow" });
  expect(asked.map((text) => text.match(/\+x$/gm)?.length)).toEqual([397, 1000]);
  expect(asked[0]?.split("\n").at(-1)).toContain("NOT SHOWN");
});

describe("without a terminal", () => {
  const prompt = { sessionId: "s", callId: "c", agent: "linter", tool: "bash", title: "bash: ls", input: {} };
  const invocation = {
    agent: "reviewer",
    provider: "p",
    model: "m",
    crossesProvider: true,
    receives: [],
    handoff: "",
  };

  test.each([
    [
      "a sub-agent is named with its path",
      { agentPath: ["reviewer", "linter"] },
      /^✗ reviewer > linter -> bash: ls: .*--yes or with a rule/,
    ],
    [
      "the start of one is for its own setting to allow",
      { invocation },
      /--yes or with `delegation\.invocationDecision`/,
    ],
    [
      "only the user can allow what its own rules deny",
      { widens: true as const },
      /only you can allow it, not --yes$/,
    ],
  ])("%s", async (_rule, more, says) => {
    const asked: string[] = [];
    const screen = { ask: (text: string) => void asked.push(text) } as unknown as Screen;
    const ask = createAsker({ screen, terminal: () => undefined });
    const answer = await ask({ ...prompt, ...more }, new AbortController().signal);
    expect(answer).toEqual({ decision: "deny", by: "nobody" });
    expect(asked.join("\n")).toMatch(says);
  });
});
