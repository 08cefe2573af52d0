import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  checkPrivateDirectory,
  checkSocketDirectory,
  checkSocketPath,
  getFallbackDirectory,
  prepareSocketDirectory,
  resolveSocketPath,
} from "../../src/base/socket-path.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "blemees-path-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const uid = process.getuid?.() ?? 0;

test.each([
  ["BLEMEESD_SOCKET wins", { BLEMEESD_SOCKET: "/a", BLEMEES_SOCKET: "/b", XDG_RUNTIME_DIR: "/run" }, "/a"],
  ["an agent's BLEMEES_SOCKET comes next", { BLEMEES_SOCKET: "/b", XDG_RUNTIME_DIR: "/run" }, "/b"],
  ["then the runtime directory", { XDG_RUNTIME_DIR: "/run/user/1" }, "/run/user/1/blemeesd.sock"],
  [
    "empty variables count as not set",
    { BLEMEESD_SOCKET: "", XDG_RUNTIME_DIR: "/run" },
    "/run/blemeesd.sock",
  ],
  [
    "a relative runtime directory is ignored",
    { XDG_RUNTIME_DIR: "run" },
    `/tmp/blemeesd-${uid}/blemeesd.sock`,
  ],
  ["the last resort does not follow TMPDIR", { TMPDIR: "/elsewhere" }, `/tmp/blemeesd-${uid}/blemeesd.sock`],
])("%s", (_rule, env, path) => {
  expect(resolveSocketPath(env)).toBe(path);
});

test("a path that the system would truncate is refused, counted in bytes", () => {
  const limit = process.platform === "darwin" ? 103 : 107;
  expect(() => checkSocketPath("/".padEnd(limit, "x"))).not.toThrow();
  expect(() => checkSocketPath("/".padEnd(limit + 1, "x"))).toThrow(/108 bytes|104 bytes/);
  expect(() => checkSocketPath(`/${"ü".repeat(54)}`)).toThrow(/bytes/);
});

test("a directory of ours with mode 0700 is accepted", () => {
  expect(() => checkPrivateDirectory(directory)).not.toThrow();
});

test("a directory that others may enter is refused", () => {
  chmodSync(directory, 0o755);
  expect(() => checkPrivateDirectory(directory)).toThrow(/mode 0755 instead of 0700/);
});

test("a symbolic link is refused even if its target is fine", () => {
  const link = `${directory}/link`;
  mkdirSync(`${directory}/real`, { mode: 0o700 });
  symlinkSync(`${directory}/real`, link);
  expect(() => checkPrivateDirectory(link)).toThrow(/symbolic link/);
});

test("a file in its place is refused", () => {
  writeFileSync(`${directory}/file`, "");
  expect(() => checkPrivateDirectory(`${directory}/file`)).toThrow(/not a directory/);
});

test.runIf(uid === 0)("a directory of another user is refused", async () => {
  const { chownSync } = await import("node:fs");
  chownSync(directory, 65534, 65534);
  expect(() => checkPrivateDirectory(directory)).toThrow(/uid 65534, not to you/);
});

test("a missing directory is reported by its code", () => {
  expect(() => checkPrivateDirectory(`${directory}/none`)).toThrow(
    expect.objectContaining({ code: "socket_directory_missing" }),
  );
});

test("only the fallback directory is checked; another place is the user's choice", () => {
  chmodSync(directory, 0o777);
  expect(() => checkSocketDirectory(`${directory}/d.sock`)).not.toThrow();
  expect(getFallbackDirectory()).toBe(`/tmp/blemeesd-${uid}`);
});

test("the daemon creates a missing directory", () => {
  prepareSocketDirectory(`${directory}/new/d.sock`);
  expect(() => checkPrivateDirectory(`${directory}/new`)).not.toThrow();
});
