// `[agents.NAME]` of the config file: valid tables, and the errors of invalid ones.
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createBackends } from "../../src/backends/registry.ts";
import { loadConfig } from "../../src/daemon/config.ts";
import { tempDir } from "../backends/temp-dir.ts";

const room = tempDir("agents-config");

function load(toml: string) {
  const home = mkdtempSync(join(room, "home-"));
  const file = join(home, "config.toml");
  writeFileSync(file, toml);
  return loadConfig({ flags: {}, env: { HOME: home, XDG_RUNTIME_DIR: home }, file });
}

const FULL = `
[agents.opencode]
command = "opencode"
args = ["acp"]
env = { OPENCODE_DISABLE_AUTOUPDATE = "1" }
process = "shared"
cwd_within = ["/src"]
mode = "plan"
config = { effort = "low", fast = true }
stall_s = 5
[agents."my.agent-2"]
command = "/opt/agent"
`;

test("each table is a backend with its defaults, between ours and the demo", () => {
  const { config, warnings } = load(FULL);
  expect(warnings).toEqual([]);
  expect(config.agents["opencode"]).toMatchObject({
    args: ["acp"],
    process: "shared",
    stall_s: 5,
    start_s: 30,
  });
  expect(config.agents["my.agent-2"]).toMatchObject({
    args: [],
    env: {},
    process: "per-session",
    stall_s: 60,
  });
  const demian = { script: "demian.js", version: "1" };
  const names = createBackends(config, { env: {}, demian }).map(({ name }) => name);
  expect(names).toEqual(["claude", "codex", "demian", "opencode", "my.agent-2", "demo"]);
});

test("without demian's script it is not detected, and the missing file is named", async () => {
  const { config } = load("");
  const demian = { script: join(room, "no-demian.js"), version: "1" };
  const backend = createBackends(config, { env: {}, demian }).find(({ name }) => name === "demian");
  expect(await backend?.detect()).toBeUndefined();
});

describe("a mistake names the table and the key", () => {
  test.each([
    ["[agents.x]", "agents.x.command: required"],
    ['[agents.x]\ncomand = "a"', 'agents.x.comand: unknown key; did you mean "command"?'],
    ['[agents.x]\ncommand = "a"\nargs = "acp"', 'agents.x.args: expected a list, ["…"], not "acp"'],
    ['[agents.x]\ncommand = "a"\nenv = { A = 1 }', "agents.x.env.A: "],
    ['[agents.x]\ncommand = "a"\ncwd = "rel"', "agents.x.cwd: expected an absolute path"],
    [
      '[agents.x]\ncommand = "a"\nprocess = "one"',
      'agents.x.process: expected one of "per-session"|"shared", not "one"',
    ],
    ['[agents.x]\ncommand = ""', "agents.x.command: expected a non-empty string"],
    ["[agents.x]\ncommand = 5", "agents.x.command: expected string, not 5"],
    ['[agents.claude]\ncommand = "a"', "agents.claude: claude is a built-in backend"],
    ['[agents.Demian]\ncommand = "a"', "agents.Demian: Demian is a built-in backend"],
    ['[agents."-x"]\ncommand = "a"', "agents.-x: a name may contain letters"],
    ['agents = "x"', "agents: expected tables"],
  ])("%s", (toml, message) => {
    expect(() => load(toml)).toThrow(
      expect.objectContaining({ code: "invalid_message", message: expect.stringContaining(message) }),
    );
  });

  test("a value in env may be a key, and is not repeated", () => {
    const toml = '[agents.x]\ncommand = "a"\nenv = "KEY=sk-secret"';
    expect(() => load(toml)).toThrow(/agents\.x\.env: expected a table/);
    expect(() => load(toml)).not.toThrow(/sk-secret/);
  });
});
