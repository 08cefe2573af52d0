// The agents that the end-to-end tests run on, and how each is installed. src/protocol/tested-agents.ts names the same
// versions; a test keeps them equal.

// Several installations: with --no-save npm removes packages that it was not asked for, and only those of the first
// need their install scripts (the others' would fetch more, or build).
export const GROUPS = [
  {
    directory: ".e2e/agents",
    npmOptions: [],
    agents: [
      {
        name: "Claude Code",
        package: "@anthropic-ai/claude-code",
        version: "2.1.327",
        programs: [".bin/claude"],
        env: "E2E_CLAUDE",
        tests: ["test/e2e/claude/", "test/e2e/demian/claudecode-cli", "test/e2e/demian/claudecode-installed"],
      },
      {
        name: "Codex",
        package: "@openai/codex",
        version: "0.169.0",
        programs: [".bin/codex"],
        env: "E2E_CODEX",
        tests: ["test/e2e/codex/", "test/e2e/demian/codex-login"],
      },
    ],
  },
  {
    // The oldest supported version; test/e2e/claude runs on it too.
    directory: ".e2e/claude-oldest",
    npmOptions: [],
    agents: [
      {
        name: "Claude Code",
        package: "@anthropic-ai/claude-code",
        version: "2.1.197",
        programs: [".bin/claude"],
        env: "E2E_CLAUDE_OLDEST",
        isOldest: true,
      },
    ],
  },
  {
    directory: ".e2e/acp-agents",
    npmOptions: ["--ignore-scripts"],
    agents: [
      {
        name: "opencode",
        package: "opencode-ai",
        version: "1.18.33",
        // An install script creates its program on the PATH; the platform's own package contains the same program.
        programs: opencodePackages().map((name) => `${name}/bin/opencode`),
        env: "E2E_OPENCODE",
        tests: ["test/e2e/acp/opencode"],
      },
      {
        name: "Gemini CLI",
        package: "@google/gemini-cli",
        version: "0.61.0",
        programs: [".bin/gemini"],
        env: "E2E_GEMINI",
        tests: ["test/e2e/acp/gemini"],
      },
      {
        name: "codex-acp",
        package: "@agentclientprotocol/codex-acp",
        version: "2.6.0",
        programs: [".bin/codex-acp"],
        // It bundles the Codex that it drives: the oldest tested Codex.
        needs: { name: "Codex", program: ".bin/codex", version: "0.166.0" },
        env: "E2E_CODEX_ACP",
        tests: ["test/e2e/acp/codex-acp"],
      },
    ],
  },
  {
    directory: ".e2e/claude-sdk",
    // Without the bundled Claude Code: the one above is used.
    npmOptions: ["--ignore-scripts", "--omit=optional"],
    agents: [
      {
        name: "the Agent SDK of Claude Code",
        package: "@anthropic-ai/claude-agent-sdk",
        version: "0.3.327",
        module: "sdk.mjs",
        env: "E2E_CLAUDE_SDK",
        tests: ["test/e2e/demian/claudecode-sdk", "test/e2e/sdk/"],
      },
    ],
  },
  {
    // An editor without a screen: it drives `blemees acp`. It asks for a newer Node than it needs.
    directory: ".e2e/editors",
    npmOptions: ["--ignore-scripts"],
    agents: [
      {
        name: "acpx",
        package: "acpx",
        version: "0.19.1",
        module: "dist/cli.js",
        env: "E2E_ACPX",
        tests: ["test/e2e/editor/acpx"],
      },
    ],
  },
  {
    // The official test server of MCP, for demian's client.
    directory: ".e2e/mcp",
    npmOptions: ["--ignore-scripts"],
    agents: [
      {
        name: "the test server of MCP",
        package: "@modelcontextprotocol/server-everything",
        version: "2026.8.31",
        module: "dist/index.js",
        env: "E2E_MCP_EVERYTHING",
        tests: ["test/e2e/demian/mcp-everything"],
      },
    ],
  },
];

/** opencode's names: for this system, for older processors (-baseline) and for musl; npm takes what fits. */
function opencodePackages() {
  const base = `opencode-${process.platform}-${process.arch}`;
  return [base, `${base}-baseline`, `${base}-musl`, `${base}-baseline-musl`];
}
