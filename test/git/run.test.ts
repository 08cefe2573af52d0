// lane: process
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { findGit, isNewEnough, keepFoundGit } from "../../src/git/program.ts";
import { findRepository, readHead } from "../../src/git/repository.ts";
import type { Git } from "../../src/git/run.ts";

let dir: string;
let git: Git;
beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "git-")));
  const found = await findGit(process.env);
  if (found.git === undefined) throw new Error(found.reason);
  git = found.git;
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const makeProgram = (name: string, script: string): string => {
  mkdirSync(join(dir, "bin"), { recursive: true });
  writeFileSync(join(dir, "bin", name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(dir, "bin", name), 0o755);
  return join(dir, "bin");
};

describe("finding git", () => {
  test.each([
    ["2.30.0", true],
    ["2.9.5", false],
    ["3.0", true],
    ["1.99", false],
  ])("version %s is new enough: %s", (version, isEnough) => expect(isNewEnough(version)).toBe(isEnough));

  test("without git on PATH, with an old one, and with one that fails, the reason is a sentence", async () => {
    expect(await findGit({ PATH: join(dir, "none") })).toEqual({
      reason: "git not found on PATH; install git 2.30 or newer",
    });
    expect(await findGit({ PATH: makeProgram("git", "echo git version 2.20.1") })).toEqual({
      reason: "git 2.20.1 is too old; install git 2.30 or newer",
    });
    expect(await findGit({ PATH: makeProgram("git", "exit 3") })).toMatchObject({
      reason: expect.stringContaining("does not work"),
    });
  });

  test("it is looked for once; if it is missing, again after a minute", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const env: Record<string, string> = { PATH: join(dir, "none") };
    const find = keepFoundGit(env);
    expect(await find()).toHaveProperty("reason");
    env["PATH"] = makeProgram("git", `echo x >> ${join(dir, "calls")}; echo git version 9.9.9`);
    expect(await find()).toHaveProperty("reason");
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    expect(await Promise.all([find(), find()])).toMatchObject([{ version: "9.9.9" }, { version: "9.9.9" }]);
    expect(await find()).toMatchObject({ version: "9.9.9" });
    expect(readFileSync(join(dir, "calls"), "utf8")).toBe("x\n");
  });

  test("a relative entry of PATH is not searched", async () => {
    makeProgram("git", "echo git version 9.9.9");
    expect(await findGit({ PATH: "bin:." })).toHaveProperty("reason");
  });
});

describe("running git", () => {
  test("a call that writes too much or takes too long ends, and says so", async () => {
    const bin = makeProgram(
      "git",
      'case "$*" in *--version*) echo git version 2.40;; *flood*) yes;; *) sleep 60;; esac',
    );
    const { git: fake } = await findGit({ PATH: `${bin}:${process.env["PATH"]}` });
    if (fake === undefined) throw new Error("no git");
    await expect(fake.run({ args: ["flood"], cwd: dir, maxBytes: 1000 })).rejects.toThrow(
      "git flood wrote more than 1000 bytes",
    );
    await expect(fake.run({ args: ["hang"], cwd: dir, timeoutMs: 50 })).rejects.toThrow(
      "git hang took longer than 50 ms",
    );
    const cancel = AbortSignal.abort();
    await expect(fake.run({ args: ["hang"], cwd: dir, signal: cancel })).rejects.toThrow("was cancelled");
  });

  test("no variable of the daemon's that directs git is passed on", async () => {
    const bin = makeProgram("git", 'case "$*" in *--version*) echo git version 2.40;; *) env;; esac');
    const env = {
      GIT_DIR: "/x",
      GIT_SSH_COMMAND: "evil",
      GIT_EXTERNAL_DIFF: "evil",
      HOME: "/home/x",
      LD_PRELOAD: "x",
    };
    const { git: fake } = await findGit({ ...env, PATH: `${bin}:${process.env["PATH"]}` });
    const shown = (await fake?.expect({ args: ["show"], cwd: dir }))?.toString() ?? "";
    expect(shown).toMatch(/^GIT_CONFIG_GLOBAL=\/dev\/null$/m);
    expect(shown).not.toMatch(/^(GIT_DIR|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|LD_PRELOAD)=|home\/x/m);
    const user = (await fake?.expect({ args: ["show"], cwd: dir, usesUserConfig: true }))?.toString() ?? "";
    expect(user).toMatch(/^HOME=\/home\/x$/m);
  });
});

describe("finding the repository", () => {
  const init = (path: string) => git.expect({ args: ["init", "-q", "-b", "main", path], cwd: dir });

  test("from a directory below it; a branch without a commit has no commit", async () => {
    await init(join(dir, "a"));
    mkdirSync(join(dir, "a", "b", "c"), { recursive: true });
    const found = await findRepository(join(dir, "a", "b", "c"));
    if (found.root === undefined) throw new Error(found.reason);
    expect(found).toMatchObject({ root: join(dir, "a"), gitDir: join(dir, "a", ".git"), isLinked: false });
    expect(await readHead(git, found)).toEqual({ branch: "main" });
  });

  test("a linked worktree names the common directory; a detached HEAD has no branch", async () => {
    await init(join(dir, "a"));
    const env = {
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a",
    };
    await git.expect({ args: ["commit", "-q", "--allow-empty", "-m", "x"], cwd: join(dir, "a"), env });
    await git.expect({ args: ["worktree", "add", "-q", "--detach", join(dir, "w")], cwd: join(dir, "a") });
    const found = await findRepository(join(dir, "w"));
    if (found.root === undefined) throw new Error(found.reason);
    expect(found).toMatchObject({
      root: join(dir, "w"),
      gitDir: join(dir, "a", ".git", "worktrees", "w"),
      commonDir: join(dir, "a", ".git"),
      isLinked: true,
    });
    expect(await readHead(git, found)).toEqual({ commit: expect.stringMatching(/^[0-9a-f]{40}$/) });
  });

  test("outside a repository, inside .git and in a directory that is gone, there is a reason", async () => {
    await init(join(dir, "a"));
    expect(await findRepository(dir)).toEqual({ reason: `${dir} is not in a git repository` });
    expect(await findRepository(join(dir, "a", ".git", "refs"))).toHaveProperty("reason");
    expect(await findRepository(join(dir, "gone"))).toHaveProperty("reason");
  });

  test("an empty .git directory, or a .git file that leads nowhere, is no repository", async () => {
    mkdirSync(join(dir, "x", ".git"), { recursive: true });
    mkdirSync(join(dir, "y"));
    writeFileSync(join(dir, "y", ".git"), "gitdir: ../nowhere\n");
    expect(await findRepository(join(dir, "x"))).toHaveProperty("reason");
    expect(await findRepository(join(dir, "y"))).toHaveProperty("reason");
  });
});
