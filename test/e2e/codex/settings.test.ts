// What the real codex writes into its own settings when the daemon opens a session, as documented in docs/security.md.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { untilGone } from "../processes.ts";
import { type CodexWorld, markOf, openWorld } from "./world.ts";

let world: CodexWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
  await untilGone(markOf(world));
});

/** What a session with these options adds to config.toml. */
async function added(name: string, options: { sandbox: string; isRepository?: boolean }): Promise<string> {
  const { sandbox, isRepository = true } = options;
  const cwd = join(world.home, name);
  mkdirSync(cwd);
  if (isRepository) execFileSync("git", ["init", "-q"], { cwd });
  const file = join(world.home, "codex/config.toml");
  const before = readFileSync(file, "utf8");
  const talk = await world.session({ cwd, sandbox, "approval-policy": "untrusted" });
  await talk.say("#mock:text hello");
  const after = readFileSync(file, "utf8");
  expect(after.startsWith(before.trimEnd())).toBe(true);
  return after.slice(before.trimEnd().length).trim();
}

test.each(["workspace-write", "danger-full-access"])(
  "codex trusts a repository in which a session may write (%s)",
  async (sandbox) => {
    const entry = `[projects."${join(world.home, sandbox)}"]\ntrust_level = "trusted"`;
    expect(await added(sandbox, { sandbox })).toBe(entry);
  },
);

test("codex writes nothing for a session that may only read, nor outside of a repository", async () => {
  expect(await added("reading", { sandbox: "read-only" })).toBe("");
  expect(await added("no-repository", { sandbox: "workspace-write", isRepository: false })).toBe("");
});
