// What the real agents change in a repository, by a tool and by a shell: shown under the right turn, undone, and kept apart
// in a worktree.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Machine } from "./machine.ts";

let machine: Machine;
beforeAll(async () => {
  machine = await Machine.create();
  writeFileSync(join(machine.cwd, "kept.txt"), "kept\n");
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "first");
});
afterAll(() => machine.close());

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: machine.cwd, env: { ...machine.env }, encoding: "utf8" });
}

const read = (name: string) => readFileSync(join(machine.cwd, name), "utf8");
const CASES = [
  {
    agent: "claude",
    may: ["-o", "permission_mode=bypassPermissions"],
    writes: (name: string) =>
      `#mock:tool Write ${JSON.stringify({ file_path: join(machine.cwd, name), content: "by a tool\n" })}`,
    runs: (command: string) => `#mock:bash ${command}`,
  },
  {
    agent: "codex",
    may: ["-o", "sandbox=danger-full-access"],
    writes: (name: string) => `#mock:patch ${name} by a tool`,
    runs: (command: string) => `#mock:exec ${command}`,
  },
];

test.each(CASES)(
  "$agent: an edit by a tool and one by the shell are in their turns, and can be undone",
  async (of) => {
    const [byTool, byShell] = [`${of.agent}-tool.txt`, `${of.agent}-shell.txt`];
    const before = git("status", "--porcelain");
    const id = await machine.spawn(
      of.agent,
      `${of.agent}-changes`,
      "--no-approvals",
      ...of.may,
      of.writes(byTool),
    );
    expect(await machine.sm("wait", id)).toMatchObject({ code: 0 });
    await machine.say(id, of.runs(`echo by the shell > ${byShell}; echo more >> kept.txt`));
    const { turns, files } = await machine.http.sessionChanges(id);
    expect(turns).toMatchObject([
      { turn: 1, files: 1, additions: 1 },
      { turn: 2, files: 2, additions: 2 },
    ]);
    expect(files.map(({ path, status, turns: by }) => [path, status, by])).toEqual([
      [byShell, "added", [2]],
      [byTool, "added", [1]],
      ["kept.txt", "modified", [2]],
    ]);
    expect((await machine.sm("diff", id, "--turn", "2")).stdout).toContain("+more");
    expect(await machine.sm("undo", id, "--turn", "2", "--yes")).toMatchObject({ code: 0 });
    expect([existsSync(join(machine.cwd, byShell)), read("kept.txt"), read(byTool)]).toEqual([
      false,
      "kept\n",
      "by a tool\n",
    ]);
    expect(await machine.sm("undo", id, "--turn", "1", "--yes")).toMatchObject({ code: 0 });
    expect(git("status", "--porcelain")).toBe(before);
    expect(git("for-each-ref", "--format=%(refname)").trim()).toBe("refs/heads/main");
  },
);

test.each(CASES)("$agent: what was undone is not in the next request to the model", async (of) => {
  const requests = () => (of.agent === "claude" ? machine.anthropic : machine.responses).requests;
  const may = ["--no-approvals", ...of.may];
  const name = `${of.agent}-forgets`;
  const id = await machine.spawn(of.agent, name, ...may, `alpha-${name} ${of.runs(`echo 1 > ${name}`)}`);
  expect(await machine.sm("wait", id)).toMatchObject({ code: 0 });
  await machine.say(id, `beta-${name} ${of.runs(`echo 2 > ${name}`)}`);
  await machine.say(id, `gamma-${name} #mock:text C`);
  expect(JSON.stringify(requests().at(-1))).toContain(`beta-${name}`);
  const undone = await machine.sm("undo", id, "--turn", "2", "--yes");
  expect(undone).toMatchObject({ code: 0 });
  expect(undone.stdout).toContain("The agent has forgotten these turns too.");
  expect(read(name)).toBe("1\n");
  // The agent is started again for the next message, and once more after that.
  for (const word of ["delta", "epsilon"]) {
    await machine.say(id, `${word}-${name} #mock:text D`);
    const last = JSON.stringify(requests().at(-1));
    const heard = ["alpha", "beta", "gamma", "delta"].filter((one) => last.includes(`${one}-${name}`));
    expect(heard).toEqual(["alpha", "delta"]);
    expect(await machine.sm("stop", id)).toMatchObject({ code: 0 });
  }
  // A stopped session.
  expect(await machine.sm("undo", id, "--turn", "5", "--yes")).toMatchObject({ code: 0 });
  await machine.say(id, `zeta-${name} #mock:text E`);
  const last = JSON.stringify(requests().at(-1));
  expect(["alpha", "delta", "epsilon", "zeta"].filter((one) => last.includes(`${one}-${name}`))).toEqual([
    "alpha",
    "delta",
    "zeta",
  ]);
  rmSync(join(machine.cwd, name));
});

test("in a worktree the agent's files stay apart until they are merged", async () => {
  const [claude] = CASES;
  const may = claude?.may ?? [];
  const id = await machine.spawn(
    "claude",
    "apart",
    "--worktree=apart",
    "--no-approvals",
    ...may,
    "#mock:bash echo x > new.txt",
  );
  expect(await machine.sm("wait", id)).toMatchObject({ code: 0 });
  const path = (await machine.sm("worktrees", "path", "apart")).stdout.trim();
  expect(readFileSync(join(path, "new.txt"), "utf8")).toBe("x\n");
  expect(existsSync(join(machine.cwd, "new.txt"))).toBe(false);
  expect((await machine.sm("diff", id, "--stat")).stdout).toContain("new.txt");
  expect((await machine.sm("worktrees")).stdout).toContain("1 changed");
});
