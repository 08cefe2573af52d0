// The command line of Claude Code as options of a session, with what the program says in `initialize`.
import { expect, test } from "vitest";
import { readArguments } from "../../../src/cli/claude/arguments.ts";
import { needsCallbacks, toSessionOptions } from "../../../src/cli/claude/session-options.ts";

const places = {
  hook: (id: string) => `http://h/hook/${id}`,
  server: (name: string) => `http://h/mcp/${name}`,
  headers: { Authorization: "Bearer s" },
};
const options = (argv: readonly string[], init = {}) =>
  toSessionOptions(readArguments(argv), init, { cwd: "/w", places });

test("flags of the Agent SDK become options, in both spellings", () => {
  const usual = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
  expect(
    options([
      ...usual,
      ...["--model=sonnet", "--permission-mode", "plan", "--max-turns=3", "--add-dir=/a", "--add-dir=/b"],
      ...["--disallowedTools", "Bash(git log:*),Read", "--permission-prompt-tool=stdio"],
    ]),
  ).toEqual({
    cwd: "/w",
    model: "sonnet",
    permission_mode: "plan",
    max_turns: 3,
    add_dir: ["/a", "/b"],
    disallowed_tools: ["Bash(git log:*)", "Read"],
    approvals: true,
    native_events: true,
    include_partial_messages: true,
  });
});

test.each([
  [["--teleport"], /--teleport is not supported by blemees claude/],
  [["--fork-session"], /--fork-session is not supported: resume/],
  [["--output-format", "json"], /--output-format json is not supported: use --output-format stream-json/],
  [["hello"], /a prompt on the command line is not supported: "hello"/],
  [["--model"], /--model needs a value/],
  [["--max-turns", "many"], /--max-turns expects a number, not "many"/],
  [["-c", "-r", "x"], /--resume and --continue exclude each other/],
])("%j is refused", (argv, message) => {
  expect(() => readArguments(argv)).toThrow(message);
});

test("rules, hooks and MCP servers of the program are added to those of the command line", () => {
  const given = [
    ...["--allowedTools", "Read", "--settings", '{"permissions":{"allow":["Glob"],"deny":["Write"]}}'],
    ...["--mcp-config", '{"mcpServers":{"home":{"type":"sdk","name":"home"},"far":{"command":"far"}}}'],
  ];
  const init = {
    sdkMcpServers: ["home"],
    hooks: { PreToolUse: [{ matcher: "Bash", hookCallbackIds: ["hook_0"], timeout: 5 }] },
    appendSystemPrompt: "Be brief.",
  };
  expect(needsCallbacks(init)).toBe(true);
  const { settings, mcp_config, append_system_prompt } = options(given, init);
  expect(append_system_prompt).toBe("Be brief.");
  const { headers } = places;
  const hook = { type: "http", url: "http://h/hook/hook_0", headers, timeout: 5 };
  expect(JSON.parse(String(settings))).toEqual({
    permissions: { allow: ["Glob", "Read"], deny: ["Write"] },
    hooks: { PreToolUse: [{ matcher: "Bash", hooks: [hook] }] },
  });
  expect((mcp_config as string[]).map((one) => JSON.parse(one))).toEqual([
    { mcpServers: { home: { type: "http", url: "http://h/mcp/home", headers }, far: { command: "far" } } },
  ]);
});

test("what a session cannot have is refused with its name", () => {
  expect(() => options([], { plugins: [{}] })).toThrow("initialize: plugins is not supported");
  const hooks = { SessionStart: [{ hookCallbackIds: ["hook_0"] }] };
  expect(() => options([], { hooks })).toThrow("hooks of the event SessionStart are not supported");
});
