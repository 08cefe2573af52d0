// codex-acp, the ACP door of codex, behind the daemon.
import { testAgent } from "./suite.ts";
import { openCodexAcp } from "./world.ts";

testAgent({
  title: /codex/i,
  open: openCodexAcp,
  // In the sandbox codex asks nobody.
  command: (line) => `#mock:escalate ${line}`,
  declined: "interrupted",
  rules: ["codex/config.toml", "codex/rules", "project/.codex"],
  forSession: true,
  // In the project it asks nobody.
  change: { place: "home", prompt: (path) => `#mock:patch ${path} hello` },
});
