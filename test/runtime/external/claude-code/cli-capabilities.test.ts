// What the installed `claude` can do decides its command line.
import { chmodSync, copyFileSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CliTransport } from "../../../../src/runtime/external/claude-code/cli.ts";
import { toCliArgs } from "../../../../src/runtime/external/claude-code/cli-args.ts";
import { CapabilityProbe, readFlags } from "../../../../src/runtime/external/claude-code/cli-capabilities.ts";
import { CliStage, FAKE_CLAUDE, notices } from "./cli-stage.ts";

let stage: CliStage;
beforeEach(() => {
  stage = new CliStage();
  stage.transport = new CliTransport();
});
afterEach(() => stage.close());

/** A program that counts how often it is asked. */
function program(version: string): string {
  const path = join(stage.root, "claude-program");
  const help = "Usage: claude\\n\\nOptions:\\n  -p, --print  Print; see --verbose";
  writeFileSync(
    path,
    `#!/bin/sh\necho "$1" >> ${stage.root}/asked\nif [ "$1" = --version ]; then echo "${version}"; else printf '${help}'; fi\n`,
  );
  chmodSync(path, 0o755);
  return path;
}
const asked = () => readFileSync(join(stage.root, "asked"), "utf8").trim().split("\n");

describe("37: capabilities", () => {
  test("the names of the help, not those that its sentences mention", () => {
    const help =
      "Options:\n  --bare   Skip; see --settings\n  -r, --resume [value]  Resume\n      --not-a-flag of a sentence";
    expect([...(readFlags(help.replace("      --not", "      see --not")) ?? [])]).toEqual([
      "--bare",
      "-r",
      "--resume",
    ]);
    expect(readFlags("no list at all")).toBeUndefined();
  });

  test("asked once for a file, and again when it has changed", async () => {
    const path = program("2.1.197 (Claude Code)");
    const probe = new CapabilityProbe();
    const [first, second] = await Promise.all([probe.find(path, stage.env), probe.find(path, stage.env)]);
    await probe.find(path, stage.env);
    expect([first, second]).toMatchObject([{ version: "2.1.197" }, { version: "2.1.197" }]);
    expect(asked().sort()).toEqual(["--help", "--version"]);
    utimesSync(path, new Date(0), new Date(0));
    await probe.find(path, stage.env);
    expect(asked()).toHaveLength(4);
  });

  test.each([
    ["1.0.128 (Claude Code)", /is Claude Code 1\.0\.128, which cannot ask.*2\.1 or newer.*claude update/],
    ["2.0.76 (Claude Code)", /is Claude Code 2\.0\.76/],
    [
      "claude 9.9.9 of somebody else",
      /is not Claude Code: --version printed "claude 9\.9\.9 of somebody else"/,
    ],
  ])("%s is refused with a sentence", async (version, words) => {
    const executable = program(version);
    const { error } = await stage.hear("hello", { executable });
    expect(error).toMatchObject({ code: "start_failed", message: expect.stringMatching(words) });
  });

  test("a failure is not remembered", async () => {
    stage.env["FAKE_CLAUDE_FAULT"] = "version-fails";
    expect((await stage.hear("hello")).error).toMatchObject({
      code: "start_failed",
      message: expect.stringContaining("failed: broken"),
    });
    stage.env["FAKE_CLAUDE_FAULT"] = "";
    expect((await stage.hear("hello")).text).toBe("You said: hello");
  });

  test("a missing flag is left out, with one warning", async () => {
    stage.env["FAKE_CLAUDE_LACKS"] = "--include-partial-messages";
    const first = await stage.hear("#argv");
    expect(first.text).not.toContain("--include-partial-messages");
    expect(notices(first.messages)).toEqual([
      "Claude Code 2.1.197 does not support --include-partial-messages: answers appear only when complete",
    ]);
    expect(notices((await stage.hear("#argv")).messages)).toEqual([]);
  });

  test.each(["--setting-sources", "--tools", "--settings", "--strict-mcp-config", "--resume"])(
    "without %s nothing runs: it is needed",
    async (flag) => {
      stage.env["FAKE_CLAUDE_LACKS"] = flag;
      const { error } = await stage.hear("hello", { resume: "00000000-0000-4000-8000-000000000000" });
      expect(error).toMatchObject({
        code: "start_failed",
        message: expect.stringContaining(`2.1.197 does not support ${flag}`),
      });
    },
  );

  test("what was not asked for needs no flag", async () => {
    stage.env["FAKE_CLAUDE_LACKS"] = "--resume,--bare";
    expect((await stage.hear("hello")).text).toBe("You said: hello");
  });

  test.each([
    [undefined, "no `claude` program was found"],
    ["/nowhere/claude", "/nowhere/claude"],
  ])("%s: there is no program", async (executable, words) => {
    const { executable: _, ...order } = stage.order("hello");
    const run = stage.transport.run({ ...order, ...(executable === undefined ? {} : { executable }) });
    await expect(run.next()).rejects.toThrow(words);
  });

  test("a copy elsewhere is another program", async () => {
    const executable = join(stage.root, "copy.cjs");
    copyFileSync(FAKE_CLAUDE, executable);
    expect((await stage.hear("hello", { executable })).text).toBe("You said: hello");
  });
});

describe("37: the command line", () => {
  const all = { version: "2.1.197", flags: undefined };

  test("as the protocol requires, with no settings but ours", () => {
    const { args, missing } = toCliArgs(
      stage.order("hi", { resume: "r", bare: true, permissionMode: "plan", maxBudgetUsd: 0.5 }),
      all,
    );
    expect(missing).toEqual([]);
    const settings = args[args.indexOf("--settings") + 1] ?? "";
    expect(JSON.parse(settings)).toMatchObject({ permissions: { deny: expect.any(Array) } });
    expect(args.filter((arg) => arg !== settings)).toEqual([
      ...["--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"],
      ...["--permission-prompt-tool", "stdio", "--include-partial-messages", "--model", "sonnet"],
      ...[
        "--max-turns",
        "5",
        "--max-budget-usd",
        "0.5",
        "--permission-mode",
        "plan",
        "--resume",
        "r",
        "--setting-sources",
        "",
      ],
      ...["--strict-mcp-config", "--settings", "--tools", "Bash,Read", "--bare"],
    ]);
  });

  test("no value becomes a flag", () => {
    const { args } = toCliArgs(stage.order("hi", { model: "--dangerously-skip-permissions" }), all);
    expect(args).toContain("--model=--dangerously-skip-permissions");
    expect(args).not.toContain("--dangerously-skip-permissions");
  });

  test("without a tool there is none, and not the default", () => {
    const { args } = toCliArgs(stage.order("hi", { tools: [] }), all);
    expect(args[args.indexOf("--tools") + 1]).toBe("");
  });
});
