// Which files of a session's directory are found: with git and without, and nothing outside.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FileFinder, LIMITS } from "../../src/sessions/files/file-finder.ts";
import { spawn, world } from "./system.ts";

let home: string;
let root: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "bl-files-")));
  root = join(home, "app");
  mkdirSync(root);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const ENV = { PATH: process.env["PATH"] ?? "" };

function write(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), "x");
  }
}

const git = (...args: string[]) => execFileSync("git", args, { cwd: root, stdio: "ignore" });

async function find(match = "", limits: Partial<typeof LIMITS> = {}, env: typeof ENV = ENV, cwd = root) {
  const { files, ...rest } = await new FileFinder({ env, limits }).find(cwd, { match, limit: 50 });
  return { ...rest, paths: files.map(({ path }) => path).sort() };
}

describe("in a repository", () => {
  test("tracked and new files are found, ignored and deleted ones are not", async () => {
    write("src/kept.ts", "src/gone.ts", "build/out.js", ".gitignore");
    writeFileSync(join(root, ".gitignore"), "build/\n");
    git("init", "-q");
    git("add", ".");
    write("src/new.ts");
    rmSync(join(root, "src/gone.ts"));
    expect(await find()).toEqual({ paths: [".gitignore", "src/", "src/kept.ts", "src/new.ts"] });
  });

  test("in a directory below the top, only what is below that directory", async () => {
    write("outside.ts", "src/a.ts", "src/lib/b.ts");
    git("init", "-q");
    expect((await find("", {}, ENV, join(root, "src"))).paths).toEqual(["a.ts", "lib/", "lib/b.ts"]);
  });

  test("a link that leads outside is not found, one that stays inside is", async () => {
    writeFileSync(join(home, "secret.txt"), "x");
    write("a.txt");
    git("init", "-q");
    symlinkSync("../secret.txt", join(root, "out.txt"));
    symlinkSync(home, join(root, "up"));
    symlinkSync("a.txt", join(root, "in.txt"));
    expect(await find()).toEqual({ paths: ["a.txt", "in.txt"] });
  });

  test("nothing that the repository configures runs", async () => {
    write("a.txt");
    git("init", "-q");
    git("config", "core.fsmonitor", `touch ${join(home, "ran")}; false`);
    expect((await find("", { maxBytes: LIMITS.maxBytes })).paths).toEqual(["a.txt"]);
    expect(() => realpathSync(join(home, "ran"))).toThrow("ENOENT");
  });

  test("a list that is too long is cut, and says so", async () => {
    write("a.txt", "b.txt", "c.txt");
    git("init", "-q");
    expect(await find("", { maxFiles: 2 })).toMatchObject({ is_cut: true });
    expect(await find("", { maxBytes: 4 })).toMatchObject({ is_cut: true });
  });
});

describe("without git", () => {
  const noGit = { PATH: "/nonexistent" };

  test("the directory is read, without hidden and installed directories and without following links", async () => {
    write("a.txt", "src/b.ts", ".cache/c", "node_modules/d.js");
    symlinkSync(home, join(root, "up"));
    expect(await find("", {}, noGit)).toEqual({ paths: ["a.txt", "src/", "src/b.ts"] });
  });

  test("reading is bounded in number and in time", async () => {
    write("a.txt", "b.txt", "c.txt");
    expect(await find("", { maxFiles: 1 }, noGit)).toMatchObject({
      is_cut: true,
      paths: [expect.any(String)],
    });
    expect(await find("", { timeoutMs: -1 }, noGit)).toEqual({ is_cut: true, paths: [] });
  });
});

test("a session finds files of its own directory; without one it says why", async () => {
  write("notes.md");
  const on = await world({ env: ENV });
  await spawn(on, "here", { cwd: root });
  await spawn(on, "nowhere");
  await spawn(on, "gone", { cwd: join(home, "gone") });
  const order = { match: "nts", limit: 5 };
  expect(await on.manager.files("here", order)).toEqual({
    session_id: "here",
    files: [{ path: "notes.md" }],
  });
  expect(await on.manager.files("nowhere", order)).toMatchObject({ files: [], reason: expect.any(String) });
  expect((await on.manager.files("gone", order)).reason).toContain("does not exist");
  await expect(on.manager.files("unknown", order)).rejects.toMatchObject({ code: "session_unknown" });
});
