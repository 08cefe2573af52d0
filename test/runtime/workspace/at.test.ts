// Both ways to look names up from a directory do the same: no link is followed, nothing is waited for.
import { execFileSync } from "node:child_process";
import { closeSync, constants, fstatSync, mkdirSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGround, type Ground, waysToLookUp } from "./ground.ts";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_RDONLY, O_WRONLY } = constants;

describe.each(waysToLookUp())("by %s", (_, at) => {
  let ground: Ground;
  let root: number;

  beforeEach(async () => {
    ground = await createGround(at);
    root = openSync(ground.root, O_RDONLY | O_DIRECTORY);
    mkdirSync(join(ground.root, "dir"));
    writeFileSync(join(ground.root, "file"), "text");
    symlinkSync("file", join(ground.root, "link"));
    symlinkSync("dir", join(ground.root, "dirlink"));
    execFileSync("mkfifo", [join(ground.root, "pipe")]);
  });

  afterEach(async () => {
    closeSync(root);
    await ground.close();
  });

  const codeOf = (work: () => unknown) => {
    try {
      work();
      return "no error";
    } catch (error) {
      return (error as { code?: string }).code;
    }
  };

  test("a link is opened neither as a file nor as a directory, to read or to write", () => {
    expect(codeOf(() => at.openFile(root, "link", O_RDONLY))).toBe("ELOOP");
    expect(codeOf(() => at.openFile(root, "link", O_WRONLY))).toBe("ELOOP");
    expect(codeOf(() => at.openFile(root, "link", O_WRONLY | O_CREAT | O_EXCL, 0o644))).toBe("EEXIST");
    expect(codeOf(() => at.openDirectory(root, "dirlink"))).toMatch(/^(ELOOP|ENOTDIR)$/);
    expect(codeOf(() => at.openDirectory(root, "file"))).toBe("ENOTDIR");
    expect(at.stat(root, "link").isSymbolicLink()).toBe(true);
    expect([at.readLink(root, "link"), codeOf(() => at.readLink(root, "file"))]).toEqual(["file", "EINVAL"]);
  });

  test("a pipe is opened and inspected without a process at its other end", () => {
    const fd = at.openFile(root, "pipe", O_RDONLY);
    expect(fstatSync(fd).isFIFO()).toBe(true);
    at.close(fd);
    expect(at.stat(root, "pipe").isFIFO()).toBe(true);
  });

  test.each(["", ".", "..", "dir/x", "/etc", "a\0b"])("%j is no name", (name) => {
    expect(() => at.openFile(root, name, O_RDONLY)).toThrow(/is not a valid file name/);
    expect(() => at.openDirectory(root, name)).toThrow(/is not a valid file name/);
    expect(() => at.rename(root, "file", name)).toThrow(/is not a valid file name/);
  });

  test("names are listed again and again, by the handle and by another of the same directory", () => {
    const names = ["dir", "dirlink", "file", "link", "pipe"];
    const again = at.reopen(root);
    for (const fd of [root, root, again, again]) expect(at.list(fd).sort()).toEqual(names);
    at.close(again);
  });

  test("files are made, moved and removed; existing and missing files are reported by code", () => {
    at.close(at.openFile(root, "new", O_CREAT | O_EXCL | O_WRONLY, 0o600));
    expect(at.stat(root, "new").mode & 0o777).toBe(0o600);
    at.rename(root, "new", "file");
    expect(at.stat(root, "file").size).toBe(0);
    at.unlink(root, "file");
    expect(codeOf(() => at.stat(root, "file"))).toBe("ENOENT");
    expect(codeOf(() => at.unlink(root, "file"))).toBe("ENOENT");
    expect(codeOf(() => at.makeDirectory(root, "dir", 0o755))).toBe("EEXIST");
  });
});
