// Whether Claude Code can be selected here, and what to do if not. Nothing is run for it.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ClaudeCode } from "../../../../src/runtime/config/login-providers.ts";
import { createClaudeCode } from "../../../../src/runtime/external/claude-code/index.ts";
import { findInstalled } from "../../../../src/runtime/external/claude-code/installed.ts";
import { listProviderChoices } from "../../../../src/runtime/providers/resolve.ts";

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "demian-installed-")));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function program(path: string, mode = 0o755): string {
  const file = join(home, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, "#!/bin/sh\nexit 9\n");
  chmodSync(file, mode);
  return file;
}
const config = (more: object = {}) => ClaudeCode.parse({ type: "claudecode", model: "sonnet", ...more });
const cli = (more: object = {}) => config({ runtime: "cli", ...more });
const env = (more: Record<string, string> = {}) => ({ HOME: home, PATH: join(home, "bin"), ...more });

describe("35: what has to be installed", () => {
  test("by the program: its usual place, else the PATH", () => {
    expect(() => findInstalled("claudecode", cli(), env())).toThrow(
      "Claude Code is not installed: found neither ~/.local/bin/claude nor claude on PATH; install it, or set providers.claudecode.cliPath",
    );
    const onPath = program("bin/claude");
    expect(findInstalled("claudecode", cli(), env())).toBe(onPath);
    const usual = program(".local/bin/claude");
    expect(findInstalled("claudecode", cli(), env())).toBe(usual);
  });

  test("a path of the user's, with ~ for their home; nothing else is taken instead", () => {
    program("bin/claude");
    const mine = program("mine/claude");
    expect(findInstalled("claudecode", cli({ cliPath: "~/mine/claude" }), env())).toBe(mine);
    expect(() => findInstalled("mine", cli({ cliPath: "~/other" }), env())).toThrow(
      "providers.mine.cliPath: ~/other is not an executable file",
    );
  });

  test("what is not a program is skipped: a directory, a file that cannot be executed, a path relative to the workspace", () => {
    mkdirSync(join(home, "bin/claude"), { recursive: true });
    program(".local/bin/claude", 0o644);
    expect(() => findInstalled("claudecode", cli(), env())).toThrow("not installed");
    const file = relative(process.cwd(), program("relative/claude"));
    expect(() => findInstalled("claudecode", cli(), env({ PATH: dirname(file) }))).toThrow("not installed");
    expect(() => findInstalled("claudecode", cli({ cliPath: file }), env())).toThrow(
      "is not an executable file",
    );
  });

  test("by the Agent SDK: its package, or the file that a variable names; and it brings its own program", () => {
    const without = () => findInstalled("claudecode", config(), env(), () => false);
    expect(without).toThrow(
      /^the Claude Agent SDK is not installed; install it next to demian .* runtime: "cli"/,
    );
    expect(findInstalled("claudecode", config(), env(), () => true)).toBeUndefined();
    const DEMIAN_CLAUDE_SDK = program("sdk.mjs");
    expect(findInstalled("claudecode", config(), env({ DEMIAN_CLAUDE_SDK }), () => false)).toBeUndefined();
    for (const elsewhere of ["/nowhere.mjs", relative(process.cwd(), DEMIAN_CLAUDE_SDK)]) {
      const given = env({ DEMIAN_CLAUDE_SDK: elsewhere });
      expect(() => findInstalled("claudecode", config(), given, () => true)).toThrow(
        `is not at ${elsewhere}, the value of DEMIAN_CLAUDE_SDK (it must be the absolute path`,
      );
    }
    const cliPath = program("mine/claude");
    expect(findInstalled("claudecode", config({ cliPath }), env(), () => true)).toBe(cliPath);
  });

  test("a list of providers says which are ready, and what to do for the others", () => {
    const choices = () =>
      listProviderChoices(
        { claude: cli(), legacy: { type: "claudecode-api-legacy", model: "x" } as never },
        env(),
      );
    expect(choices()).toMatchObject([
      { key: "claude", isReady: false, problem: expect.stringContaining("not installed") },
      { key: "legacy", isReady: false, problem: expect.stringContaining("use the type claudecode") },
    ]);
    program("bin/claude");
    expect(choices()[0]).toMatchObject({ key: "claude", type: "claudecode", isReady: true });
  });

  test("it is its own agent, with the configuration of its tools", () => {
    program("bin/claude");
    const made = createClaudeCode(cli({ defaultDecision: "ask" }), { key: "c", model: "sonnet", env: env() });
    expect(made).toMatchObject({ executor: "claudecode", defaultDecision: "ask" });
  });
});
