// The workspace with both ways to look names up: reading, writing, walking, and what it refuses.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace } from "../../../src/runtime/workspace/open.ts";
import { codeOf, createGround, type Ground, waysToLookUp } from "./ground.ts";

const NO_SKIP = { skip: new Set<string>(), signal: new AbortController().signal };

describe.each(waysToLookUp())("by %s", (_, at) => {
  let ground: Ground;

  beforeEach(async () => {
    ground = await createGround(at);
  });

  afterEach(async () => {
    await ground.close();
    expect(ground.openDescriptors()).toBe(0);
  });

  const put = (path: string, text: string) => writeFileSync(join(ground.root, path), text);
  const get = (path: string) => readFileSync(join(ground.root, path), "utf8");

  test("what was written is read, with its hash, and parents are made", async () => {
    const { workspace } = ground;
    await workspace.write("a/b/ä 🎉.txt", "héllo\n");
    const { bytes, hash, located } = await workspace.read("a/b/ä 🎉.txt", { maxBytes: 100 });
    expect(bytes.toString()).toBe("héllo\n");
    expect(hash).toBe(createHash("sha256").update("héllo\n").digest("hex"));
    expect(located).toEqual({
      lexical: "a/b/ä 🎉.txt",
      real: "a/b/ä 🎉.txt",
      exists: true,
      isDirectory: false,
    });
    expect(readdirSync(join(ground.root, "a/b"))).toEqual(["ä 🎉.txt"]);
  });

  test("a new file gets 0644 less the umask, a replaced one keeps its mode", async () => {
    put("run.sh", "old");
    chmodSync(join(ground.root, "run.sh"), 0o751);
    await ground.workspace.write("run.sh", "new");
    await ground.workspace.write("fresh", "new");
    const modeOf = (path: string) => statSync(join(ground.root, path)).mode & 0o777;
    expect(modeOf("run.sh")).toBe(0o751);
    expect(modeOf("fresh")).toBe(0o644 & ~process.umask());
  });

  test("a link inside is followed, and stays a link when its file is written", async () => {
    mkdirSync(join(ground.root, "real"));
    put("real/a", "old");
    symlinkSync("real", join(ground.root, "dir"));
    symlinkSync("dir/a", join(ground.root, "a"));
    symlinkSync(join(ground.root, "real/a"), join(ground.root, "absolute"));
    symlinkSync("real/../dir/../a", join(ground.root, "crooked"));
    await ground.workspace.write("a", "new");
    expect(lstatSync(join(ground.root, "a")).isSymbolicLink()).toBe(true);
    for (const path of ["a", "dir/a", "absolute", "crooked"]) {
      const { bytes, located } = await ground.workspace.read(path, { maxBytes: 10 });
      expect([bytes.toString(), located.lexical, located.real]).toEqual(["new", path, "real/a"]);
    }
  });

  test("a link that leads nowhere is where the new file goes", async () => {
    symlinkSync("sub/new.txt", join(ground.root, "link"));
    expect(await ground.workspace.locate("link")).toMatchObject({ real: "sub/new.txt", exists: false });
    await ground.workspace.write("link", "text", null, "sub/new.txt");
    expect(get("sub/new.txt")).toBe("text");
  });

  test("a file that is too large, missing or not regular is reported by code", async () => {
    put("big", "x".repeat(101));
    put("file", "x");
    const read = (path: string) => codeOf(ground.workspace.read(path, { maxBytes: 100 }));
    expect(await read("big")).toBe("too_large");
    expect(await read("none")).toBe("not_found");
    expect(await read("none/below")).toBe("not_found");
    expect(await read("file/below")).toBe("not_a_directory");
    expect(await read(".")).toBe("not_a_file");
    expect(await codeOf(ground.workspace.write(".", "x"))).toBe("not_a_file");
    expect(await codeOf(ground.workspace.write("file/x", "x"))).toBe("not_a_directory");
    expect(await read("n".repeat(300))).toBe("not_accessible");
  });

  test("pipes, sockets and devices are refused without waiting for them", async () => {
    execFileSync("mkfifo", [join(ground.root, "pipe")]);
    const server = createServer().listen(join(ground.root, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    for (const path of ["pipe", "socket"]) {
      expect(await codeOf(ground.workspace.read(path, { maxBytes: 10 }))).toBe("not_a_file");
      expect(await codeOf(ground.workspace.write(path, "x"))).toBe("not_a_file");
    }
    await new Promise((resolve) => server.close(resolve));
    symlinkSync("/dev/zero", join(ground.root, "zero"));
    expect(await codeOf(ground.workspace.read("zero", { maxBytes: 10 }))).toBe("path_outside");
  });

  test("a file with a second name is neither read nor written, but in installed packages it is read", async () => {
    linkSync(join(ground.outside, "secret.txt"), join(ground.root, "innocent.txt"));
    mkdirSync(join(ground.root, "node_modules"));
    linkSync(join(ground.outside, "secret.txt"), join(ground.root, "node_modules/a.js"));
    expect(await codeOf(ground.workspace.read("innocent.txt", { maxBytes: 100 }))).toBe("hard_linked");
    expect(await codeOf(ground.workspace.write("innocent.txt", "x"))).toBe("hard_linked");
    expect(await codeOf(ground.workspace.write("node_modules/a.js", "x"))).toBe("hard_linked");
    expect(await codeOf(ground.workspace.read("node_modules/a.js", { maxBytes: 100 }))).toBe("no error");
  });

  test("an environment file is not read by another name, not even in installed packages", async () => {
    for (const name of ["packages", "node_modules"]) mkdirSync(join(ground.root, name));
    put("packages/.env", "KEY=secret");
    linkSync(join(ground.root, "packages/.env"), join(ground.root, "node_modules/a.js"));
    expect(await codeOf(ground.workspace.read("node_modules/a.js", { maxBytes: 100 }))).toBe("hard_linked");
  });

  test("a read-only file is unchanged", async () => {
    put("a", "old");
    chmodSync(join(ground.root, "a"), 0o444);
    expect(await codeOf(ground.workspace.write("a", "new"))).toBe("read_only");
    expect(get("a")).toBe("old");
  });

  test("what changed since it was looked at is not overwritten, and nothing is left beside it", async () => {
    put("a", "old");
    const { hash } = await ground.workspace.read("a", { maxBytes: 10 });
    put("a", "theirs");
    expect(await codeOf(ground.workspace.write("a", "ours", hash))).toBe("changed_since");
    expect(await codeOf(ground.workspace.write("a", "ours", null))).toBe("changed_since");
    expect(await codeOf(ground.workspace.write("gone", "ours", hash))).toBe("changed_since");
    expect(await codeOf(ground.workspace.write("no/such/dir", "ours", hash))).toBe("changed_since");
    expect(get("a")).toBe("theirs");
    expect(readdirSync(ground.root)).toEqual(["a"]);
    const now = await ground.workspace.read("a", { maxBytes: 10 });
    await ground.workspace.write("a", "ours", now.hash);
    expect(get("a")).toBe("ours");
  });

  test("a name that leads elsewhere by now is not written", async () => {
    mkdirSync(join(ground.root, ".git/hooks"), { recursive: true });
    const { real } = await ground.workspace.locate("new.txt");
    symlinkSync(".git/hooks/pre-commit", join(ground.root, "new.txt"));
    expect(await codeOf(ground.workspace.write("new.txt", "x", null, real))).toBe("changed_since");
    expect(existsSync(join(ground.root, ".git/hooks/pre-commit"))).toBe(false);
  });

  test("a walk gives files, directories and links, enters no link and nothing that is skipped", async () => {
    for (const path of ["a", "a/b", "skipped", "line\nbreak"]) mkdirSync(join(ground.root, path));
    for (const path of ["a/b/x", "skipped/y", "line\nbreak/z", "ünï"]) put(path, "12345");
    symlinkSync(ground.outside, join(ground.root, "out"));
    symlinkSync("a", join(ground.root, "in"));
    execFileSync("mkfifo", [join(ground.root, "pipe")]);
    const seen = new Map<string, string>();
    for await (const entry of ground.workspace.walk(".", { ...NO_SKIP, skip: new Set(["skipped"]) })) {
      seen.set(entry.path, entry.isDirectory ? "directory" : entry.isLink ? "link" : `file ${entry.size}`);
    }
    expect(Object.fromEntries(seen)).toEqual({
      a: "directory",
      "a/b": "directory",
      "a/b/x": "file 5",
      in: "link",
      "line\nbreak": "directory",
      "line\nbreak/z": "file 5",
      out: "link",
      skipped: "directory",
      ünï: "file 5",
    });
  });

  test("a walk that is left early, or aborted, closes what it opened", async () => {
    mkdirSync(join(ground.root, "a/b/c"), { recursive: true });
    put("a/b/c/x", "");
    const own = ground.openDescriptors();
    for await (const entry of ground.workspace.walk(".", NO_SKIP)) if (entry.path === "a/b/c/x") break;
    expect(ground.openDescriptors()).toBe(own);
    const aborter = new AbortController();
    const aborted = (async () => {
      const walk = ground.workspace.walk(".", { ...NO_SKIP, signal: aborter.signal });
      for await (const entry of walk) if (entry.path === "a/b") aborter.abort();
    })();
    await expect(aborted).rejects.toThrow(/abort/i);
    expect(ground.openDescriptors()).toBe(own);
  });

  test("the root that was opened stays the root when another directory takes its name", async () => {
    put("mine", "old");
    renameSync(ground.root, `${ground.root}-moved`);
    mkdirSync(ground.root);
    await ground.workspace.write("mine", "new");
    expect(readFileSync(join(`${ground.root}-moved`, "mine"), "utf8")).toBe("new");
    expect(readdirSync(ground.root)).toEqual([]);
  });

  test("a deleted root is reported", async () => {
    rmSync(ground.root, { recursive: true });
    expect(await codeOf(ground.workspace.read("a", { maxBytes: 10 }))).toBe("workspace_gone");
    expect(await codeOf(ground.workspace.write("a", "x"))).toBe("workspace_gone");
    await expect(ground.workspace.locate(".")).rejects.toThrow(/was deleted; start again/);
  });

  test("after close nothing works, and closing twice is fine", async () => {
    await ground.workspace.close();
    expect(await codeOf(ground.workspace.locate("a"))).toBe("closed");
    await ground.workspace.close();
  });
});

test("an invalid working directory is reported with what to do", async () => {
  const ground = await createGround();
  writeFileSync(join(ground.root, "file"), "");
  for (const path of ["none", "file"]) {
    const failure = openWorkspace(join(ground.root, path));
    await expect(failure).rejects.toThrow(/choose an existing directory/);
    expect(await codeOf(openWorkspace(join(ground.root, path)))).toBe("bad_cwd");
  }
  await ground.close();
});

test("a working directory given by a link takes absolute paths by both of its names", async () => {
  const ground = await createGround();
  writeFileSync(join(ground.root, "a"), "");
  symlinkSync(ground.root, `${ground.root}-link`);
  const workspace = await openWorkspace(`${ground.root}-link`);
  for (const path of ["a", `${ground.root}/a`, `${ground.root}-link/a`]) {
    expect((await workspace.locate(path)).lexical).toBe("a");
  }
  await workspace.close();
  await ground.close();
});
