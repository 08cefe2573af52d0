import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { buildProgramCompletion, formatProgramHelp } from "../../../src/cli/program.ts";
import { complete } from "../../../src/cli/wire/complete.ts";
import { formatPromptHelp } from "../../../src/cli/wire/help.ts";
import { createProgram } from "../../../src/cli/wire/main.ts";
import { VERBS } from "../../../src/cli/wire/verbs.ts";

const PROGRAM = createProgram({ name: "blemeesctl", version: "1.2.3" });
const completionScript = (shell: string): string => buildProgramCompletion(PROGRAM, shell);
const CHECKS: Record<string, string[]> = { bash: ["-n"], zsh: ["-n"], fish: ["--no-execute"] };
const isThere = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;

for (const [shell, check] of Object.entries(CHECKS)) {
  test.runIf(isThere(shell))(`the completion script is valid ${shell}`, () => {
    const { status, stderr } = spawnSync(shell, check, { input: completionScript(shell), encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  test(`the completion script for ${shell} knows every verb of the shell`, () => {
    const script = completionScript(shell);
    for (const { name, where } of VERBS) if (where !== "prompt") expect(script).toContain(name);
  });
}

test.runIf(isThere("bash"))("bash completes a verb and its flags", () => {
  const ask = (words: string, at: number): string =>
    spawnSync("bash", ["--norc"], {
      input: `${completionScript("bash")}\nCOMP_WORDS=(${words}); COMP_CWORD=${at}; _blemeesctl; echo "\${COMPREPLY[*]}"`,
      encoding: "utf8",
    }).stdout.trim();
  expect(ask("blemeesctl sta", 1)).toBe("status");
  expect(ask("blemeesctl --json sessions --l", 3)).toBe("--live");
});

test("an unknown shell is refused with the known ones", () => {
  expect(() => completionScript("tcsh")).toThrow("completion bash|zsh|fish");
});

test.each([
  ["sta", ["status "]],
  ["send ab", ["abc"]],
  ["open n", ["new"]],
  ["open new options.m", ["options.model="]],
  ["close abc --d", ["--delete"]],
  ["pretty o", ["on", "off"]],
  ["requests x", ["xyz"]],
  ["accept r", ["req_1"]],
  ["decline --s", ["--shown"]],
  ["nonsense x", []],
])("Tab after %j offers %j", (line, offered) => {
  expect(complete(line, { sessions: ["abc", "xyz"], requests: ["req_1"] })[0]).toEqual(offered);
});

test("the help starts with a usage line and an example, and has every verb", () => {
  expect(formatProgramHelp(PROGRAM)).toMatch(/^usage: blemeesctl .*\n\n {2}blemeesctl run --backend demo/);
  for (const { usage, where } of VERBS)
    expect(where === "shell" ? formatProgramHelp(PROGRAM) : formatPromptHelp()).toContain(usage);
});
