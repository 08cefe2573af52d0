// The real agents, if the end-to-end tests have installed them, and a home for codex whose model is the scripted one.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codexConfigToml } from "../../test/tools/mock-responses.mjs";

export const INSTALLED = join(import.meta.dirname, "../../.e2e/agents/node_modules/.bin");

/** @param {"claude" | "codex"} name */
export function findAgent(name) {
  const program = join(INSTALLED, name);
  return existsSync(program) ? program : undefined;
}

/** @param {string} name */
export function sayHowToInstall(name) {
  return `${name} is not in .e2e/agents; \`npm run test:e2e\` installs it`;
}

/**
 * @param {string} home
 * @param {string} url of the scripted model
 * @returns the environment of codex
 */
export function furnishCodex(home, url) {
  const codexHome = join(home, "codex");
  mkdirSync(codexHome);
  writeFileSync(join(codexHome, "config.toml"), codexConfigToml(url));
  return { CODEX_HOME: codexHome, MOCK_KEY: "sk-mock" };
}
