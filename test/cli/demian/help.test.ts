import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../../src/cli/demian/commands.ts";
import { PROGRAM_FLAGS } from "../../../src/cli/demian/flags.ts";
import { createProgram, main } from "../../../src/cli/demian/main.ts";
import { buildProgramCompletion, formatCommandHelp, formatProgramHelp } from "../../../src/cli/program.ts";
import { memoryIo } from "./memory-io.ts";

const named = (program: string) => createProgram({ program, version: "1.2.3", io: memoryIo() });
const DEMIAN = named("demian");
const completionScript = (shell: string, program = "demian"): string =>
  buildProgramCompletion(named(program), shell);
const CHECKS: Record<string, string[]> = { bash: ["-n"], zsh: ["-n"], fish: ["--no-execute"] };
const isThere = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;

async function run(...argv: string[]): Promise<{ code: number; stdout: string }> {
  const io = memoryIo();
  const code = await main(argv, { program: "demian", version: "1.2.3", io });
  return { code, stdout: io.stdout.text };
}

describe("help", () => {
  test("is printed by --help, help and -h, and names every command and every flag with examples", async () => {
    const { stdout } = await run("--help");
    expect(stdout).toBe(`${formatProgramHelp(DEMIAN)}\n`);
    expect((await run("help")).stdout).toBe(stdout);
    for (const { name } of COMMANDS) expect(stdout).toContain(`  ${name}`);
    for (const { name } of PROGRAM_FLAGS) expect(stdout).toContain(`--${name}`);
    expect(stdout).toContain('demian "make the tests pass"');
  });

  test("exists for every command, with examples that its flags allow", async () => {
    for (const command of COMMANDS) {
      const text = `${formatCommandHelp(DEMIAN, command)}\n`;
      expect((await run("help", command.name)).stdout).toBe(text);
      expect((await run(command.name, "--help")).stdout).toBe(text);
      const names = (command.flags ?? []).map(({ name }) => `--${name}`);
      for (const example of command.examples ?? []) {
        for (const flag of example.match(/--[\w-]+/g) ?? []) expect(names).toContain(flag);
      }
    }
  });

  test("a version is printed, and a mistyped command is not sent to a model", async () => {
    expect(await run("--version")).toEqual({ code: 0, stdout: "demian 1.2.3\n" });
    await expect(run("doctr")).rejects.toThrow("did you mean doctor?");
    await expect(run("help", "me", "please")).rejects.toThrow("needs quotes");
    await expect(run("list-tools", "now")).rejects.toThrow("needs quotes");
  });
});

describe("completion", () => {
  for (const [shell, check] of Object.entries(CHECKS)) {
    test.runIf(isThere(shell))(`the script is valid ${shell}`, () => {
      for (const program of ["demian", "demian-plain"]) {
        const input = completionScript(shell, program);
        const { status, stderr } = spawnSync(shell, check, { input, encoding: "utf8" });
        expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      }
    });

    test(`the script for ${shell} knows every command and every flag`, () => {
      const script = completionScript(shell);
      for (const { name } of [...COMMANDS, ...PROGRAM_FLAGS]) expect(script).toContain(name);
    });
  }

  test.runIf(isThere("bash"))("bash completes commands, flags, and what demian itself lists", () => {
    const bin = mkdtempSync(join(tmpdir(), "demian-bin-"));
    try {
      const answers =
        '"list-agents --main --names") echo plan ;;\n"list-providers --names") echo openai ;;\n"trust --names") echo .demian/tools/deploy.mjs ;;';
      writeFileSync(join(bin, "demian"), `#!/bin/sh\ncase "$*" in\n${answers}\nesac`, { mode: 0o755 });
      writeFileSync(join(bin, "shot.png"), "");
      const ask = (words: string, at: number): string =>
        spawnSync("bash", ["--norc"], {
          input: `${completionScript("bash")}\nCOMP_WORDS=(${words}); COMP_CWORD=${at}; _demian; echo "\${COMPREPLY[*]}"`,
          encoding: "utf8",
          env: { PATH: `${bin}:${process.env["PATH"]}` },
        }).stdout.trim();
      expect(ask("demian doc", 1)).toBe("doctor");
      expect(ask("demian doctor pol", 2)).toBe("policies");
      expect(ask("demian --agent pl", 2)).toBe("plan");
      expect(ask("demian acp --provider op", 3)).toBe("openai");
      expect(ask("demian --sandbox read", 2)).toBe("read-only");
      expect(ask("demian --agent plan --dry", 3)).toBe("--dry-run");
      expect(ask(`demian --image ${bin}/sh`, 2)).toBe(`${bin}/shot.png`);
      expect(ask("demian completion fi", 2)).toBe("fish");
      expect(ask("demian trust --revoke .dem", 3)).toBe(".demian/tools/deploy.mjs");
    } finally {
      rmSync(bin, { recursive: true });
    }
  });
});
