// The real codex in its own environment: its home is CODEX_HOME, its model the scripted one.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codexConfigToml, type MockResponses, startMockResponses } from "../../tools/mock-responses.mjs";
import { createWorld, type World } from "../world.ts";

export type CodexWorld = World<MockResponses>;

/** Sessions run outside the sandbox and ask before every command, unless they set otherwise. */
export async function openWorld(env: Record<string, string> = {}): Promise<CodexWorld> {
  const model = await startMockResponses();
  return createWorld({
    backend: "codex",
    model,
    furnish(home, cwd) {
      const variables = furnishCodex(home, model.url);
      return {
        env: { BLEMEESD_CODEX: codexProgram(), ...variables, ...env },
        options: { cwd, sandbox: "danger-full-access", "approval-policy": "untrusted" },
      };
    },
  });
}

export function codexProgram(): string {
  const codex = process.env["E2E_CODEX"];
  if (codex === undefined) throw new Error("E2E_CODEX is not set: run `npm run test:e2e`");
  return codex;
}

/** An environment entry that all processes of this codex have, and no others. */
export function markOf(world: CodexWorld): string {
  return `CODEX_HOME=${join(world.home, "codex")}`;
}

/** Creates CODEX_HOME below `home`; returns the environment for it. */
export function furnishCodex(home: string, url: string): Record<string, string> {
  const codexHome = join(home, "codex");
  mkdirSync(codexHome, { recursive: true });
  writeFileSync(join(codexHome, "config.toml"), codexConfigToml(url));
  return { CODEX_HOME: codexHome, MOCK_KEY: "sk-mock" };
}
