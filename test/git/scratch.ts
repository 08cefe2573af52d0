// A real repository in a directory of its own, and the git to look at it with. The user's configuration plays no part.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findGit } from "../../src/git/program.ts";
import { findRepository, type Repository } from "../../src/git/repository.ts";
import type { Git } from "../../src/git/run.ts";

const ENV = {
  PATH: process.env["PATH"],
  HOME: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "t",
  GIT_AUTHOR_EMAIL: "t@example.com",
  GIT_COMMITTER_NAME: "t",
  GIT_COMMITTER_EMAIL: "t@example.com",
};

export class Scratch {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), "scratch-")));
  readonly root = join(this.home, "app");

  /** With one commit, which has these files. */
  static create(files: Readonly<Record<string, string>> = { "a.txt": "one\n" }): Scratch {
    const scratch = new Scratch();
    scratch.run("init", "-q", "-b", "main");
    for (const [path, text] of Object.entries(files)) scratch.write(path, text);
    scratch.commit("first");
    return scratch;
  }

  private constructor() {
    mkdirSync(this.root);
  }

  /** Plain git, as the user runs it: with hooks, filters and everything that the repository configures. */
  run(...args: string[]): string {
    return this.runIn(this.root, ...args);
  }

  runIn(cwd: string, ...args: string[]): string {
    const { status, stdout, stderr } = spawnSync("git", args, { cwd, env: ENV, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout.trim();
  }

  write(path: string, text: string | Buffer, root = this.root): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  commit(message: string, cwd = this.root): void {
    this.runIn(cwd, "add", "-A");
    this.runIn(cwd, "commit", "-q", "--allow-empty", "-m", message);
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

export async function requireGit(env: Readonly<Record<string, string | undefined>> = ENV): Promise<Git> {
  const found = await findGit(env);
  if (found.git === undefined) throw new Error(found.reason);
  return found.git;
}

export async function openRepository(path: string): Promise<Repository> {
  const found = await findRepository(path);
  if (found.root === undefined) throw new Error(found.reason);
  return found;
}
