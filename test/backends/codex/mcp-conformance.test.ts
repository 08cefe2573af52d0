import { testBackend } from "../conformance.ts";
import { fakeCodex } from "./mcp-fake.ts";

const prompts = {
  quick: "#say hello",
  slow: "#slow 1000 50",
  many: "#flood 3000 100",
  ask: "#approve true",
  askUnread: "#close-stdin #approve true",
};

const codex = fakeCodex();
testBackend("codex over mcp-server", { backend: codex.backend, options: { cwd: codex.cwd }, prompts });
