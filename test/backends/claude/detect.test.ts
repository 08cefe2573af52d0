import { chmodSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ClaudeDetector } from "../../../src/backends/claude/detect.ts";
import { readVersion, speaksControl } from "../../../src/base/claude-wire/version.ts";
import { tempDir } from "../temp-dir.ts";
import { FAKE_CLAUDE } from "./fake.ts";

const dir = tempDir("detect");
const env = { PATH: process.env["PATH"] };

function script(text: string): string {
  const file = join(mkdtempSync(join(dir, "d-")), "claude");
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe("Detector", () => {
  test.each([
    ["2.1.197 (Claude Code)", "2.1.197", true],
    ["2.1 (Claude Code)", "2.1", true],
    ["3.0.0 (Claude Code)", "3.0.0", true],
    ["2.0.99 (Claude Code)", "2.0.99", false],
    ["1.0.5 (Claude Code)", "1.0.5", false],
    ["9.9.9 (stub)", "9.9.9", false],
    ["no version", undefined, false],
  ])("%s", (said, version, speaks) => {
    expect(readVersion(said)).toBe(version);
    expect(speaksControl(said)).toBe(speaks);
  });

  test("the fake passes for Claude Code, and as a plain stub does not", async () => {
    expect(await new ClaudeDetector(FAKE_CLAUDE, env).detect()).toMatchObject({
      version: "2.1.197",
      speaksControl: true,
    });
    const plain = new ClaudeDetector(FAKE_CLAUDE, { ...env, FAKE_CLAUDE_PLAIN: "1" });
    expect(await plain.detect()).toMatchObject({ version: "9.9.9", speaksControl: false });
  });

  test("a name is looked up on PATH", async () => {
    const file = script("echo 1.2.3");
    expect(
      await new ClaudeDetector("claude", { PATH: `/no/such:${join(file, "..")}` }).detect(),
    ).toMatchObject({
      path: file,
    });
  });

  test("a missing or failing program is undefined, never an error", async () => {
    expect(await new ClaudeDetector("no-such-claude", env).detect()).toBeUndefined();
    expect(await new ClaudeDetector("/etc/passwd", env).detect()).toBeUndefined();
    expect(await new ClaudeDetector(script("echo 1.2.3; exit 1"), env).detect()).toBeUndefined();
  });

  test("it is asked again only when the file has changed", async () => {
    const count = join(mkdtempSync(join(dir, "d-")), "count");
    const file = script(`echo x >> ${count}; echo 1.0.$(wc -l < ${count})`);
    const detector = new ClaudeDetector(file, env);
    await detector.detect();
    expect((await detector.detect())?.version).toBe("1.0.1");
    utimesSync(file, 1, 1);
    expect((await detector.detect())?.version).toBe("1.0.2");
  });
});
