import { createClaudeBackend } from "../../../src/backends/claude/index.ts";
import { testBackend } from "../conformance.ts";
import { FAKE_CLAUDE, fakeHome } from "./fake.ts";

const prompts = { quick: "#say hello", slow: "#slow 1000 50", many: "#flood 3000 100" };

const home = fakeHome();
testBackend("claude", {
  backend: createClaudeBackend({ bin: FAKE_CLAUDE, env: home.env }),
  options: { cwd: home.cwd, include_partial_messages: true, approvals: true },
  prompts: { ...prompts, ask: "#ask mkdir x", askUnread: "#close-stdin #ask mkdir x" },
});

const plain = fakeHome({ FAKE_CLAUDE_PLAIN: "1" });
testBackend("claude without the control protocol", {
  backend: createClaudeBackend({ bin: FAKE_CLAUDE, env: plain.env }),
  options: { cwd: plain.cwd, include_partial_messages: true },
  prompts,
});
