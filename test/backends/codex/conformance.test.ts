import { createCodexBackend } from "../../../src/backends/codex/index.ts";
import { testBackend } from "../conformance.ts";
import { FAKE_CODEX, fakeHome } from "./fake.ts";

const prompts = {
  quick: "#say hello",
  slow: "#slow 1000 50",
  many: "#flood 3000 100",
  ask: "#ask make",
  askUnread: "#close-stdin #ask make",
};

const home = fakeHome();
testBackend("codex in a shared process", {
  backend: createCodexBackend({ bin: FAKE_CODEX, env: home.env, lingerMs: 0 }),
  options: { cwd: home.cwd },
  prompts,
});

const apart = fakeHome();
testBackend("codex in a process per session", {
  backend: createCodexBackend({ bin: FAKE_CODEX, env: apart.env, process: "per-session" }),
  options: { cwd: apart.cwd },
  prompts,
});
