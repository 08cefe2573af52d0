import { closeSync, fstatSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, expect, test } from "vitest";
import { findLog } from "../../src/daemon/log-place.ts";

const open: number[] = [];
const directories: string[] = [];
afterEach(() => {
  for (const fd of open.splice(0)) closeSync(fd);
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "log-place-"));
  directories.push(directory);
  return directory;
}

function opened(path: string): number {
  const fd = openSync(path, "a");
  open.push(fd);
  return fd;
}

test("a configured file is reported with its full path", () => {
  expect(findLog({ log_file: "a.log", state_dir: "/s" }, {})).toEqual({ to: "file", path: resolve("a.log") });
});

test("a file that stderr was redirected to is found, also after it was renamed", () => {
  const state_dir = newDirectory();
  const fd = opened(join(state_dir, "blemeesd.log"));
  const find = () => findLog({ log_file: undefined, state_dir }, {}, fd);
  expect(find()).toEqual({ to: "file", path: join(state_dir, "blemeesd.log") });
  renameSync(join(state_dir, "blemeesd.log"), join(state_dir, "blemeesd.log.1"));
  const path = process.platform === "linux" ? { path: join(state_dir, "blemeesd.log.1") } : {};
  expect(find()).toEqual({ to: "file", ...path });
});

test("the log of the launchd job is found by its usual place", () => {
  const home = newDirectory();
  mkdirSync(join(home, "Library/Logs"), { recursive: true });
  const path = join(home, "Library/Logs/blemeesd.log");
  const fd = opened(path);
  expect(findLog({ log_file: undefined, state_dir: "/nowhere" }, { HOME: home }, fd)).toEqual({
    to: "file",
    path,
  });
});

test("a file that was removed has no path", () => {
  const state_dir = newDirectory();
  const fd = opened(join(state_dir, "x.log"));
  rmSync(join(state_dir, "x.log"));
  expect(findLog({ log_file: undefined, state_dir }, {}, fd)).toEqual({ to: "file" });
});

test("the journal is recognized by the stream that systemd names, anything else is just stderr", () => {
  const fd = opened("/dev/null");
  const { dev, ino } = fstatSync(fd);
  const find = (env: Record<string, string>) =>
    findLog({ log_file: undefined, state_dir: "/nowhere" }, env, fd);
  expect(find({ JOURNAL_STREAM: `${dev}:${ino}` })).toEqual({ to: "journal" });
  expect(find({ JOURNAL_STREAM: "1:2" })).toEqual({ to: "stderr" });
  expect(find({})).toEqual({ to: "stderr" });
});
