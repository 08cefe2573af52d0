import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listIds } from "../../../src/cli/blemees/listing.ts";
import { createProgram } from "../../../src/cli/blemees/main.ts";
import {
  buildProgramCompletion,
  formatCommandHelp,
  formatProgramHelp,
  listCommands,
} from "../../../src/cli/program.ts";
import { aView } from "../../client/session-views.ts";

const SM = createProgram({ name: "sm", version: "1.2.3", daemonProgram: "", demianProgram: "" });
const COMMANDS = listCommands(SM);
const completionScript = (shell: string): string => buildProgramCompletion(SM, shell);
const CHECKS: Record<string, string[]> = { bash: ["-n"], zsh: ["-n"], fish: ["--no-execute"] };
const isThere = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;

for (const [shell, check] of Object.entries(CHECKS)) {
  test.runIf(isThere(shell))(`the completion script is valid ${shell}`, () => {
    const { status, stderr } = spawnSync(shell, check, { input: completionScript(shell), encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  test(`the completion script for ${shell} knows every command and starts no daemon`, () => {
    const script = completionScript(shell);
    for (const { name } of COMMANDS) expect(script).toContain(name);
    for (const [asking] of script.matchAll(/\$\(sm [^)]*/g)) expect(asking).toContain("--no-start");
  });
}

test.runIf(isThere("bash"))("bash completes commands, flags, and ids and names that sm prints", () => {
  const bin = mkdtempSync(join(tmpdir(), "sm-bin-"));
  try {
    const answers = [
      '"--no-start all --ids") echo fixer ;;',
      '"--no-start queue fixer --ids") echo msg_1 ;;',
    ];
    writeFileSync(join(bin, "sm"), `#!/bin/sh\ncase "$*" in\n${answers.join("\n")}\nesac`, { mode: 0o755 });
    writeFileSync(join(bin, "d.sock"), "");
    const ask = (words: string, at: number): string =>
      spawnSync("bash", ["--norc"], {
        input: `${completionScript("bash")}\nCOMP_WORDS=(${words}); COMP_CWORD=${at}; _sm; echo "\${COMPREPLY[*]}"`,
        encoding: "utf8",
        env: { PATH: `${bin}:${process.env["PATH"]}` },
      }).stdout.trim();
    expect(ask("sm chi", 1)).toBe("children");
    expect(ask("sm spawn --no-w", 2)).toBe("--no-wake");
    expect(ask("sm tail fi", 2)).toBe("fixer");
    expect(ask("sm spawn cod", 2)).toBe("codex");
    expect(ask("sm daemon re", 2)).toBe("restart");
    expect(ask("sm queue fixer --cancel ms", 4)).toBe("msg_1");
    expect(ask(`sm --socket ${bin}/d`, 2)).toBe(`${bin}/d.sock`);
    expect(ask(`sm --socket ${bin}/d.sock tail fi`, 4)).toBe("fixer");
    expect(ask(`sm tail --socket ${bin}/d`, 3)).toBe(`${bin}/d.sock`);
    expect(ask("sm decline --cancel fi", 3)).toBe("");
  } finally {
    rmSync(bin, { recursive: true });
  }
});

test("a name that several sessions have is offered once", () => {
  const views = ["a", "b"].map((session_id) => aView({ session_id, name: "twin" }));
  expect(listIds(views)).toEqual(["a", "twin", "b"]);
});

test("an unknown shell is refused with the known ones", () => {
  expect(() => completionScript("tcsh")).toThrow("completion bash|zsh|fish");
});

test("the help begins with a usage line and an example, and has every command", () => {
  expect(formatProgramHelp(SM)).toMatch(/^usage: sm .*\n\n {2}sm {2}.*\n(.*\n)* {2}sm spawn codex/);
  for (const command of COMMANDS) {
    expect(formatProgramHelp(SM)).toContain(command.usage);
    expect(formatCommandHelp(SM, command)).toMatch(/^usage: sm .*\n\n {2}.*\bsm\b/);
  }
});

test("the help of daemon does not offer --no-start, which contradicts it", () => {
  const shown = COMMANDS.filter((command) => formatCommandHelp(SM, command).includes("--no-start"));
  expect(COMMANDS.filter((command) => !shown.includes(command)).map(({ name }) => name)).toEqual(["daemon"]);
});

test("the help of wait documents its exit codes", () => {
  const wait = COMMANDS.find(({ name }) => name === "wait");
  const help = wait === undefined ? "" : formatCommandHelp(SM, wait);
  for (const code of [0, 1, 3, 4, 124]) expect(help).toMatch(new RegExp(`^  ${code} +\\w`, "m"));
});

test("no two commands share a name", () => {
  const names = COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(new Set(names).size).toBe(names.length);
});
