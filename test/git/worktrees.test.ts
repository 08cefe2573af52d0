// lane: process
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { carryChanges } from "../../src/git/carry-changes.ts";
import type { Git } from "../../src/git/run.ts";
import { addWorktree, inspectWorktree, removeWorktree } from "../../src/git/worktrees.ts";
import { openRepository, requireGit, Scratch } from "./scratch.ts";

let scratch: Scratch;
let git: Git;
let path: string;
beforeEach(async () => {
  git = await requireGit();
  scratch = Scratch.create({ "a.txt": "one\n", "src/b.txt": "two\n", "c.txt": "three\n" });
  path = join(scratch.home, "worktrees", "fix");
});
afterEach(() => scratch.remove());

const add = async (more: { base?: string; branch?: string } = {}) =>
  addWorktree(git, await openRepository(scratch.root), { path, branch: "blemees/fix", ...more });

/** A program that leaves a mark, for what a repository can configure. */
const makeProbe = (): { command: string; marks: () => string[] } => {
  const dir = join(scratch.home, "marks");
  mkdirSync(dir, { recursive: true });
  const command = join(scratch.home, "probe.sh");
  writeFileSync(command, `#!/bin/sh\ntouch "${dir}/$$"\ncat\n`);
  chmodSync(command, 0o755);
  return { command, marks: () => readdirSync(dir) };
};

describe("a new worktree", () => {
  test("has the files of its base on a branch of its own, and leaves the repository as it was", async () => {
    scratch.write("a.txt", "later\n");
    scratch.commit("second");
    const before = [scratch.run("status", "--porcelain"), scratch.run("rev-parse", "HEAD")];
    const added = await add({ base: "HEAD~1" });
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("one\n");
    expect(scratch.runIn(path, "status", "--porcelain", "--branch")).toBe("## blemees/fix");
    expect([scratch.run("status", "--porcelain"), scratch.run("rev-parse", "HEAD")]).toEqual(before);
    expect(await inspectWorktree(git, added)).toMatchObject({
      branch: "blemees/fix",
      changed: 0,
      unmerged: 0,
    });
  });

  test.each([
    ["a base that is not a commit", { base: "no-such" }, '"no-such" is not a commit'],
    ["a base that looks like an option", { base: "--all" }, "is not a commit"],
    ["a branch that exists", { branch: "main" }, "already exists"],
  ])("%s is refused, and nothing is left", async (_what, order, message) => {
    await expect(add(order)).rejects.toThrow(message);
    expect(existsSync(path)).toBe(false);
    expect(scratch.run("worktree", "list").split("\n")).toHaveLength(1);
  });

  test("a repository without a commit is refused", async () => {
    const empty = join(scratch.home, "empty");
    mkdirSync(empty);
    scratch.runIn(empty, "init", "-q");
    const order = { path, branch: "blemees/fix" };
    await expect(addWorktree(git, await openRepository(empty), order)).rejects.toThrow("has no commit yet");
  });

  test("no hook and no filter of the repository runs; plain git would run both", async () => {
    const { command, marks } = makeProbe();
    scratch.write(".gitattributes", "*.txt filter=evil\n");
    scratch.commit("attributes");
    mkdirSync(join(scratch.root, ".git/hooks"), { recursive: true });
    for (const hook of ["post-checkout", "reference-transaction", "post-index-change"]) {
      writeFileSync(join(scratch.root, ".git/hooks", hook), `#!/bin/sh\nexec ${command}\n`);
      chmodSync(join(scratch.root, ".git/hooks", hook), 0o755);
    }
    for (const key of ["filter.evil.smudge", "filter.evil.clean", "core.fsmonitor", "core.sshCommand"])
      scratch.run("config", key, command);
    const added = await add();
    scratch.write("a.txt", "changed\n", path);
    await carryChanges(git, added, await openRepository(scratch.root));
    await inspectWorktree(git, added);
    scratch.write("a.txt", "one\n", path);
    await removeWorktree(git, added);
    expect(marks()).toEqual([]);
    scratch.run("worktree", "add", "-q", join(scratch.home, "control"));
    expect(marks().length).toBeGreaterThan(1);
  });

  test("a filter of the user's own configuration runs", async () => {
    const { command, marks } = makeProbe();
    const home = join(scratch.home, "user");
    mkdirSync(home);
    writeFileSync(join(home, ".gitconfig"), `[filter "own"]\n\tsmudge = ${command}\n`);
    scratch.write(".gitattributes", "*.txt filter=own\n");
    scratch.commit("attributes");
    git = await requireGit({ PATH: process.env["PATH"], HOME: home });
    await add();
    expect(marks().length).toBeGreaterThan(0);
  });
});

describe("uncommitted changes", () => {
  test("are carried byte for byte: edits, new files, deletions, links, modes, odd names", async () => {
    scratch.write(".gitignore", "ignored\n");
    scratch.commit("ignore");
    scratch.write("a.txt", "changed\r\n\0");
    scratch.write("new/deep/file", "new");
    scratch.write("ignored", "not carried");
    rmSync(join(scratch.root, "c.txt"));
    symlinkSync("a.txt", join(scratch.root, "link"));
    writeFileSync(join(scratch.root, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
    const odd = Buffer.concat([Buffer.from(`${scratch.root}/`), Buffer.from([0xff, 0x20, 0x0a, 0xfe])]);
    writeFileSync(odd, "odd");
    scratch.run("add", "new");
    const added = await add();
    expect(await carryChanges(git, await openRepository(scratch.root), added)).toEqual({
      files: 5,
      left: [],
    });
    expect(readFileSync(join(path, "a.txt"), "latin1")).toBe("changed\r\n\0");
    expect(readFileSync(join(path, "new/deep/file"), "utf8")).toBe("new");
    expect(existsSync(join(path, "c.txt"))).toBe(false);
    expect(existsSync(join(path, "ignored"))).toBe(false);
    expect(readlinkSync(join(path, "link"))).toBe("a.txt");
    expect(lstatSync(join(path, "run.sh")).mode & 0o111).not.toBe(0);
    const carried = Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0xff, 0x20, 0x0a, 0xfe])]);
    expect(readFileSync(carried, "utf8")).toBe("odd");
  });

  test("a link that was replaced by a directory does not lead out of the worktree", async () => {
    const outside = join(scratch.home, "outside");
    mkdirSync(outside);
    symlinkSync(outside, join(scratch.root, "dir"));
    scratch.commit("a link");
    rmSync(join(scratch.root, "dir"));
    scratch.write("dir/file", "inside");
    const added = await add();
    await carryChanges(git, await openRepository(scratch.root), added);
    expect(readdirSync(outside)).toEqual([]);
    expect(readFileSync(join(path, "dir/file"), "utf8")).toBe("inside");
  });

  test("a nested repository is left and reported", async () => {
    scratch.write("nested/file", "x");
    scratch.runIn(join(scratch.root, "nested"), "init", "-q");
    const added = await add();
    expect(await carryChanges(git, await openRepository(scratch.root), added)).toEqual({
      files: 0,
      left: ["nested"],
    });
  });
});

describe("removing", () => {
  test.each([
    ["a changed file", () => scratch.write("a.txt", "x", path), "1 changed or untracked file;"],
    ["an untracked file", () => scratch.write("new", "x", path), "1 changed or untracked file;"],
    ["a commit of its own", () => scratch.commit("own", path), "1 commit neither merged nor pushed;"],
  ])("%s is not lost: it is refused, with what to do", async (_what, change, message) => {
    const added = await add();
    change();
    await expect(removeWorktree(git, added)).rejects.toThrow(message);
    expect(existsSync(path)).toBe(true);
  });

  test("once merged it goes, with its branch", async () => {
    const added = await add();
    scratch.write("a.txt", "x", path);
    scratch.commit("own", path);
    scratch.run("merge", "-q", "--ff-only", "blemees/fix");
    await removeWorktree(git, added);
    expect(existsSync(path)).toBe(false);
    expect(scratch.run("branch", "--list", "blemees/*")).toBe("");
    expect(scratch.run("show", "HEAD:a.txt")).toBe("x");
  });

  test("once pushed it goes too", async () => {
    scratch.run("init", "-q", "--bare", join(scratch.home, "remote"));
    scratch.run("remote", "add", "origin", join(scratch.home, "remote"));
    const added = await add();
    scratch.commit("own", path);
    await expect(removeWorktree(git, added)).rejects.toThrow("neither merged nor pushed");
    scratch.runIn(path, "push", "-q", "origin", "blemees/fix");
    await removeWorktree(git, added);
    expect(existsSync(path)).toBe(false);
  });

  test("commits of a detached HEAD count", async () => {
    const added = await add();
    scratch.runIn(path, "checkout", "-q", "--detach");
    scratch.commit("own", path);
    expect(await inspectWorktree(git, added)).toMatchObject({ unmerged: 1 });
    expect((await inspectWorktree(git, added)).branch).toBeUndefined();
  });
});
