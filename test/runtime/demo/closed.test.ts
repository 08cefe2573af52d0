// The demo has no sandbox, so it must be nothing but the demo, whatever is configured where it runs.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { asDemo } from "../../../src/runtime/demo/index.ts";
import { createRuntime } from "../../../src/runtime/runtime.ts";

const home = mkdtempSync(join(tmpdir(), "demo-closed-"));
const workspace = join(home, "workspace");
afterAll(() => rmSync(home, { recursive: true, force: true }));

function configure(directory: string, text: string): void {
  mkdirSync(join(directory, ".demian"), { recursive: true });
  writeFileSync(join(directory, ".demian/config.json"), text, { mode: 0o600 });
}

const demo = () =>
  createRuntime(
    asDemo({ cwd: workspace, env: { HOME: home, DEMIAN_PROVIDER: "ollama", OPENAI_API_KEY: "k" } }),
  );

test("a configuration that is broken does not stop it", async () => {
  configure(home, "{ nope");
  configure(workspace, "{ nope");
  const runtime = await demo();
  expect(runtime.warnings).toEqual([]);
  await runtime.close();
});

test("no agent, tool or model but its own can be chosen", async () => {
  const mine = { type: "openai-compatible", baseURL: "http://127.0.0.1:9/v1", model: "m" };
  configure(home, JSON.stringify({ defaultProvider: "mine", providers: { mine } }));
  configure(workspace, "{}");
  const runtime = await demo();
  expect(runtime.agents.list().map(({ agent }) => agent.name)).toEqual(["demo"]);
  expect(runtime.tools.list().map(({ tool }) => tool.name)).toEqual([
    "demo_clock",
    "demo_shell",
    "demo_question",
  ]);
  expect(runtime.providers.map(({ key }) => key)).toEqual(["demo"]);
  const session = { ask: () => Promise.reject(new Error("not asked")), onEvent: () => undefined };
  for (const provider of ["mine", "openai", "ollama"]) {
    await expect(runtime.openSession({ ...session, provider, model: "m" })).rejects.toThrow(provider);
  }
  await expect(runtime.openSession({ ...session, agent: "build" })).rejects.toThrow(
    /there is no agent "build"/,
  );
  await runtime.close();
});
