// The versions that `sm doctor` and the documents name are those that the end-to-end tests install.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compareToTested, TESTED_AGENTS } from "../../src/protocol/tested-agents.ts";
import { ROOT } from "../support/root.ts";

const { GROUPS } = (await import(join(ROOT, "scripts/e2e-agents.mjs"))) as {
  GROUPS: { agents: Agent[] }[];
};
interface Agent {
  name: string;
  version: string;
  isOldest?: true;
  module?: string;
  /** Another agent that comes with it and is driven by it. */
  needs?: { name: string; version: string };
}
const installed = GROUPS.flatMap(({ agents }) => agents).filter(({ module }) => module === undefined);

test("every agent that the end-to-end tests drive is in the table, with its oldest and its newest version", () => {
  const versions = TESTED_AGENTS.map(({ title, oldest, newest }) => [title, oldest, newest]);
  const found = [...new Set(installed.map(({ name }) => name))].map((name) => {
    const own = installed.filter((agent) => agent.name === name);
    const newest = own.find(({ isOldest }) => !isOldest)?.version;
    const driven = installed.find(({ needs }) => needs?.name === name)?.needs;
    return [name, (own.find(({ isOldest }) => isOldest) ?? driven)?.version ?? newest, newest];
  });
  expect(versions).toEqual(found);
});

test("the README names every version that is tested", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  for (const { title, oldest, newest } of TESTED_AGENTS) {
    const named = oldest === newest ? `${title} ${newest}` : `${title} ${oldest} and ${newest}`;
    expect(readme).toContain(named);
  }
});

test.each([
  ["claude", "2.1.99 (Claude Code)", { is: "older", than: "2.1.197" }],
  ["claude", "2.1.197 (Claude Code)", undefined],
  ["claude", "2.1.300", undefined],
  ["claude", "2.1.327 (Claude Code)", undefined],
  ["claude", "2.2", { is: "newer", than: "2.1.327" }],
  ["codex", "codex-cli 0.165.1", { is: "older", than: "0.166.0" }],
  ["codex", "codex-cli 0.166.0", undefined],
  ["codex", "codex-cli 0.169.0", undefined],
  ["codex", "codex-cli 1.0.0", { is: "newer", than: "0.169.0" }],
  ["claude", "unknown", undefined],
  ["another", "0.0.1", undefined],
])("%s %s", (name, said, compared) => {
  expect(compareToTested(name, said)).toEqual(compared);
});

test("agents:latest says when the newest version cannot be found out, and tests nothing", () => {
  const bin = mkdtempSync(join(tmpdir(), "no-registry-"));
  writeFileSync(join(bin, "npm"), "#!/bin/sh\necho 'npm error network unreachable' >&2\nexit 1\n", {
    mode: 0o755,
  });
  const run = () =>
    execFileSync(process.execPath, [join(ROOT, "scripts/agents-latest.mjs")], {
      env: { PATH: `${bin}:/usr/bin:/bin` },
      stdio: "pipe",
    });
  expect(run).toThrow(/network unreachable\n.*Nothing was installed and nothing was tested/);
  rmSync(bin, { recursive: true });
});
