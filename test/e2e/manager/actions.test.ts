// The actions of the real agents: commands and file changes, with exit code, diff and outcome, in the same format for
// both.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Action } from "../../../src/protocol/actions.ts";
import { PATIENT } from "../../support/patience.ts";
import { untilGone } from "../processes.ts";
import { Machine } from "./machine.ts";

let machine: Machine;
beforeAll(async () => {
  machine = await Machine.create();
});
afterAll(() => machine.close());

const KINDS: readonly string[] = ["command", "file_change"];
const file = () => join(machine.cwd, "claude.txt");
const tool = (name: string, input: object) => `#mock:tool ${name} ${JSON.stringify(input)}`;

interface Case {
  agent: string;
  provider: string;
  may: string[];
  /** A command that fails, a new file, a change of it, a command that is interrupted. */
  does: () => [string, string, string, string];
  /** The first change's description of the file; Claude sends no diff of a new one. */
  added: string;
}

const CASES: Case[] = [
  {
    agent: "codex",
    provider: "codex-app",
    may: ["-o", "sandbox=danger-full-access"],
    does: () => [
      "#mock:exec exit 3",
      "#mock:patch codex.txt old",
      "#mock:edit codex.txt new",
      "#mock:exec exec sleep 4325",
    ],
    added: "created codex.txt (+1 -0)",
  },
  {
    agent: "claude",
    provider: "claude",
    may: ["-o", "permission_mode=bypassPermissions"],
    does: () => [
      "#mock:bash exit 3",
      tool("Write", { file_path: file(), content: "old\n" }),
      tool("Edit", { file_path: file(), old_string: "old", new_string: "new" }),
      "#mock:bash exec sleep 4325",
    ],
    added: "created claude.txt (+1)",
  },
];

test.each(CASES)(
  "commands and file changes of $agent are distinguished, with their outcome, and one that was interrupted",
  async (of) => {
    const [fails, adds, changes, hangs] = of.does();
    const id = await machine.spawn(of.agent, of.agent, "--no-approvals", ...of.may, fails);
    expect(await machine.sm("wait", id)).toMatchObject({ code: 0 });
    for (const text of [adds, changes]) await machine.say(id, text);
    await machine.sm("send", id, hangs);
    const running = { action_kind: "command", status: "running" };
    await vi.waitFor(async () => {
      expect((await machine.http.session(id)).last_action).toMatchObject(running);
    }, PATIENT);
    expect(await machine.sm("interrupt", id)).toMatchObject({ code: 0 });
    expect(await machine.sm("wait", id)).toMatchObject({ code: 1 });
    await untilGone(`HOME=${machine.home}`, "sleep 4325");

    const { body } = await machine.curl<{ actions: Action[] }>("GET", `/sessions/${id}/actions?limit=50`);
    const [last] = body.actions;
    expect(last).toMatchObject({ action_kind: "turn", status: "interrupted", source_provider: of.provider });
    const done = body.actions.filter(({ action_kind }) => KINDS.includes(action_kind)).reverse();
    const failed = { action_kind: "command", status: "failed", exit_code: 3 };
    const changed = { action_kind: "file_change", status: "success" };
    expect(done).toMatchObject([
      { ...failed, summary_text: "ran `exit 3` (exit 3)" },
      { ...changed, summary_text: of.added },
      { ...changed, summary_text: `edited ${of.agent}.txt (+1 -1)` },
      { ...running, status: "interrupted", summary_text: expect.stringContaining("sleep 4325") },
    ]);
    for (const { item_id, turn_id, started_at_ms, ended_at_ms } of done) {
      expect([typeof item_id, typeof turn_id]).toEqual(["string", "string"]);
      expect(ended_at_ms).toBeGreaterThanOrEqual(started_at_ms);
    }
    // What users see is made from the same data.
    expect((await machine.sm("tail", id)).stdout).toMatch(/✓ edited \w+\.txt \(\+1 -1\)[\s\S]*sleep 4325/);
  },
);
