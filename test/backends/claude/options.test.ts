import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  buildClaudeArgv,
  CLAUDE_ARGS,
  ClaudeOptions,
  checkClaudeOptions,
} from "../../../src/backends/claude/options.ts";

const ALL = {
  model: "opus",
  system_prompt: "You are",
  append_system_prompt: "-- also",
  tools: "",
  disallowed_tools: ["Bash", "Edit"],
  permission_mode: "plan",
  cwd: "/work",
  add_dir: ["/a", "/b"],
  effort: "high",
  agent: "reviewer",
  agents: { reviewer: { description: "r", prompt: "p" } },
  mcp_config: ["a.json", "b.json"],
  strict_mcp_config: true,
  settings: "s.json",
  setting_sources: "user,project",
  plugin_dir: ["p1", "p2"],
  betas: ["b1"],
  exclude_dynamic_system_prompt_sections: true,
  max_budget_usd: 1.5,
  max_turns: 3,
  max_thinking_tokens: 1000,
  thinking: "adaptive",
  json_schema: { type: "object" },
  fallback_model: "sonnet",
  session_name: "-my name",
  session_persistence: false,
  include_partial_messages: true,
  user_echo: true,
  include_raw_events: true,
  approvals: true,
  native_events: false,
};
const check = (block: Record<string, unknown>) => checkClaudeOptions(block);
const coded = (code: string, text: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(text) });

describe("the command line", () => {
  test("every option, in the order of the reference", () => {
    const argv = buildClaudeArgv({ resume: false, id: "ID" }, check(ALL));
    expect(argv).toEqual(
      [
        [
          "-p",
          "--verbose",
          "--session-id",
          "ID",
          "--input-format",
          "stream-json",
          "--output-format",
          "stream-json",
        ],
        ["--model", "opus", "--system-prompt", "You are", "--append-system-prompt=-- also", "--tools", ""],
        ["--disallowedTools", "Bash", "Edit", "--permission-mode", "plan", "--add-dir", "/a", "/b"],
        ["--effort", "high", "--agent", "reviewer"],
        ["--agents", '{"reviewer":{"description":"r","prompt":"p"}}', "--mcp-config", "a.json", "b.json"],
        ["--strict-mcp-config", "--settings", "s.json", "--setting-sources", "user,project"],
        ["--plugin-dir", "p1", "--plugin-dir", "p2", "--betas", "b1"],
        ["--exclude-dynamic-system-prompt-sections", "--max-budget-usd", "1.5", "--max-turns", "3"],
        ["--max-thinking-tokens", "1000", "--thinking", "adaptive"],
        ["--json-schema", '{"type":"object"}', "--fallback-model", "sonnet", "--name=-my name"],
        ["--no-session-persistence", "--include-partial-messages", "--replay-user-messages"],
        ["--permission-prompt-tool", "stdio"],
      ].flat(),
    );
  });

  test("the test above leaves no option out", () => {
    expect(Object.keys(ALL).sort()).toEqual(Object.keys(ClaudeOptions.shape).sort());
    expect(CLAUDE_ARGS.filter((row) => !(row.option in ALL))).toEqual([]);
  });

  test("a resumed session differs only in how it names the id", () => {
    expect(buildClaudeArgv({ resume: true, id: "ID" }, check({}))).toEqual(
      "-p --verbose --resume ID --input-format stream-json --output-format stream-json".split(" "),
    );
  });
});

describe("checkClaudeOptions", () => {
  test("null means unset, and what is given back has none", () => {
    expect(check({ model: null, tools: null, add_dir: null, user_echo: null, effort: "low" })).toEqual({
      effort: "low",
    });
  });

  test.each([
    "dangerously_skip_permissions",
    "allow_dangerously_skip_permissions",
    "bare",
    "continue",
    "continue_",
    "from_pr",
  ])("%s is refused whatever its value", (key) => {
    for (const value of [true, false, null, ""]) {
      expect(() => check({ [key]: value })).toThrow(coded("unsafe_flag", `/options/claude/${key}`));
    }
  });

  test.each([
    [{ modle: "x" }, "/options/claude/modle: unexpected property"],
    [{ input_format: "text" }, "/options/claude/input_format"],
    [{ output_format: "stream-json" }, "/options/claude/output_format"],
    [{ permission_mode: "yolo" }, "/options/claude/permission_mode"],
    [{ user_echo: "false" }, "/options/claude/user_echo"],
    [{ add_dir: "/a" }, "/options/claude/add_dir"],
    [{ max_budget_usd: -1 }, "/options/claude/max_budget_usd"],
    [{ cwd: "/a\0b" }, "/options/claude/cwd"],
    [{ cwd: "" }, "/options/claude/cwd"],
  ])("%j is invalid, and the message names the field", (block, text) => {
    expect(() => check(block)).toThrow(coded("invalid_message", text));
  });

  test("a refused flag cannot be smuggled in as the value of any option", () => {
    const flags = ["--dangerously-skip-permissions", "--bare", "--continue", "--from-pr"];
    const textual = ["model", "tools", "effort", "agent", "settings", "system_prompt", "session_name", "cwd"];
    const lists = ["add_dir", "disallowed_tools", "mcp_config", "plugin_dir", "betas"];
    for (const flag of flags) {
      for (const key of textual) expect(() => check({ [key]: flag })).toThrow(coded("unsafe_flag", key));
      for (const key of lists) expect(() => check({ [key]: ["x", flag] })).toThrow(coded("unsafe_flag", key));
    }
  });

  test("no text that a client can send becomes a flag of its own", () => {
    const known = new Set(buildClaudeArgv({ resume: false, id: "0" }, check(ALL)));
    const smuggle = fc.string().map((text) => `-${text}`);
    const anything = fc.oneof(smuggle, fc.string());
    const block = fc.record({
      model: anything,
      system_prompt: anything,
      add_dir: fc.array(anything),
      agent: anything,
    });
    fc.assert(
      fc.property(block, (options) => {
        let argv: string[] = [];
        try {
          argv = buildClaudeArgv({ resume: false, id: "0" }, check(options));
        } catch {
          return;
        }
        const flags = argv.filter((arg) => arg.startsWith("-") && !arg.startsWith("--system-prompt="));
        expect(flags.filter((flag) => !known.has(flag))).toEqual([]);
      }),
    );
  });
});
