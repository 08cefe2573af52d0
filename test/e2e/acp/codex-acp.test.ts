// codex-acp, Codex's ACP adapter, under the daemon.
import { testAgent } from "./suite.ts";
import { openCodexAcp } from "./world.ts";

testAgent({
  title: /codex/i,
  open: openCodexAcp,
  // In the sandbox codex never asks.
  command: (line) => `#mock:escalate ${line}`,
  declined: "interrupted",
  rules: ["codex/config.toml", "codex/rules", "project/.codex"],
  forSession: true,
  failures: [
    ["#mock:err 400", "bad_request"],
    ["#mock:err 429", "rate_limited"],
    ["#mock:err 500", "model_error"],
    ["#mock:err 503", "overloaded"],
    ["#mock:cut half an answer", "stream_cut"],
    ["#mock:failed context_length_exceeded", "context_exceeded"],
  ],
  change: (path) => `#mock:patch ${path} hello`,
});
