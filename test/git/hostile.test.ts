// A repository that tries to run something wherever git can be made to. Plain git is the control: it shows that the traps
// work, so that silence means safety.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { goBack, seedRandom, World } from "./world.ts";

const HOOKS = [
  "pre-commit",
  "post-commit",
  "post-index-change",
  "reference-transaction",
  "post-checkout",
  "fsmonitor-watchman",
  "pre-auto-gc",
  "update",
  "post-rewrite",
  "prepare-commit-msg",
];

let world: World;
beforeEach(() => {
  world = new World(seedRandom(1));
  mkdirSync(world.root);
  world.git("init", "-q", "-b", "main");
  world.write("a.txt", "one\n");
  world.write("b.bin", "one\n");
  world.git("add", "-A");
  world.git("commit", "-q", "-m", "x");
});
afterEach(() => world.close());

/** A program that notes that it ran, and by what it was set. */
function trap(name: string): string {
  const path = join(world.dir, `trap-${name}`);
  writeFileSync(path, `#!/bin/sh\necho ${name} >> ${join(world.dir, "ran")}\ncat 2>/dev/null\nexit 0\n`);
  chmodSync(path, 0o755);
  return path;
}

function readTraps(): string[] {
  const file = join(world.dir, "ran");
  return existsSync(file) ? [...new Set(readFileSync(file, "utf8").trim().split("\n"))].sort() : [];
}

function setTraps(): void {
  for (const hook of HOOKS)
    writeFileSync(join(world.root, ".git", "hooks", hook), readFileSync(trap(`hook-${hook}`)), {
      mode: 0o755,
    });
  const set = (key: string, name = key) => world.git("config", key, trap(name.replaceAll(".", "-")));
  for (const key of [
    "core.fsmonitor",
    "core.sshCommand",
    "core.pager",
    "core.editor",
    "core.askPass",
    "gpg.program",
  ])
    set(key);
  for (const key of [
    "filter.evil.clean",
    "filter.evil.smudge",
    "diff.evil.textconv",
    "diff.evil.command",
    "diff.external",
  ])
    set(key);
  for (const key of ["merge.evil.driver", "credential.helper", "core.gitProxy", "core.alternateRefsCommand"])
    set(key);
  world.git("config", "filter.slow.process", trap("filter-process"));
  world.git("config", "filter.slow.required", "true");
  for (const alias of ["ls-files", "diff-files", "write-tree", "update-index"]) {
    world.git("config", `alias.${alias}`, `!${trap(`alias-${alias}`)}`);
  }
  world.git("config", "alias.mine", `!${trap("alias-mine")}`);
  world.git("config", "commit.gpgSign", "true");
  world.git("config", "core.worktree", "/");
  writeFileSync(
    join(world.dir, "more"),
    `[diff "included"]\n\ttextconv = ${trap("included")}\n[core]\n\tpager = ${trap("included-pager")}\n`,
  );
  world.git("config", "include.path", join(world.dir, "more"));
  world.write(".gitattributes", "*.txt filter=evil diff=evil merge=evil\n*.bin filter=slow diff=included\n");
}

test("a hostile repository starts no process, and the traps work for plain git", async () => {
  setTraps();
  const other = join(world.dir, "other");
  execFileSync("cp", ["-r", world.root, other], { env: world.env });
  writeFileSync(
    join(world.root, ".git", "objects", "info", "alternates"),
    `${join(other, ".git", "objects")}\n`,
  );
  writeFileSync(join(world.dir, "ran"), "");

  const tree = await world.open();
  const first = await tree.take();
  world.write("a.txt", "two\n");
  world.write("b.bin", "two\n");
  world.write("new.txt", "new\n");
  const second = await tree.take();
  const changes = await tree.compare([first.tree, second.tree], { findsRenames: true });
  expect(changes.map(({ path }) => path)).toEqual(["a.txt", "b.bin", "new.txt"]);
  const hunks = await Promise.all(changes.map(({ before, after }) => tree.readHunks(before, after)));
  expect(hunks[0]?.hunks[0]?.lines.map(({ kind, text }) => kind + text)).toEqual(["deleteone", "addtwo"]);
  expect(await goBack(tree, first.tree, second.tree)).toEqual(new Map());
  expect((await tree.take()).tree).toBe(first.tree);
  expect(readFileSync(join(world.root, "b.bin"), "utf8")).toBe("one\n");
  expect(readTraps().filter((name) => name !== "")).toEqual([]);

  // The control.
  world.git("config", "--unset", "core.worktree");
  world.write("a.txt", "three\n");
  world.write("b.bin", "three\n");
  for (const args of [
    ["status"],
    ["add", "-A"],
    ["-c", "filter.slow.process=", "-c", "filter.slow.required=false", "diff", "HEAD"],
    ["commit", "-qm", "x"],
    ["mine"],
  ])
    world.tryGit(...args);
  const ran = readTraps();
  for (const name of [
    "core-fsmonitor",
    "filter-evil-clean",
    "filter-process",
    "hook-post-index-change",
    "alias-mine",
  ]) {
    expect(ran).toContain(name);
  }
  expect(ran.filter((name) => name.startsWith("diff-"))).not.toEqual([]);
});

test("a `.git` file that leads to another repository is only read", async () => {
  const other = join(world.dir, "other");
  renameSync(world.root, other);
  mkdirSync(world.root);
  writeFileSync(join(world.root, ".git"), `gitdir: ${join(other, ".git")}\n`);
  world.write("a.txt", "mine\n");
  const before = execFileSync("find", [other, "-type", "f"], { encoding: "utf8" });
  const tree = await world.open();
  const { tree: id } = await tree.take();
  expect([...(await tree.listTree(id)).keys()]).toEqual(["a.txt"]);
  expect(execFileSync("find", [other, "-type", "f"], { encoding: "utf8" })).toBe(before);
});
