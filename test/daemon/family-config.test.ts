// The settings of families and of the notify hook: lists, a command, booleans.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadConfig } from "../../src/daemon/config.ts";

const ROOM = mkdtempSync(join(tmpdir(), "blemees-config-"));
afterAll(() => rmSync(ROOM, { recursive: true }));

function load(toml: string, env: Record<string, string> = {}) {
  const file = join(ROOM, "config.toml");
  writeFileSync(file, toml);
  return loadConfig({ flags: {}, env: { HOME: ROOM, XDG_RUNTIME_DIR: ROOM, ...env }, file }).config;
}

test("by default there are no notifications, and a family is bounded", () => {
  expect(load("")).toMatchObject({
    max_children: 64,
    max_family_depth: 6,
    max_family_size: 256,
    stall_s: 600,
    notify_allow_urls: [],
    notify_on: ["waits", "done", "failed"],
    notify_children: false,
    remind_s: 0,
  });
  expect(load("").notify_command).toBeUndefined();
  expect(load("").notify_url).toBeUndefined();
});

test("a command is a list in the file; elsewhere a JSON list or a program, never split at blanks", () => {
  expect(load('notify_command = ["say", "a b"]').notify_command).toEqual(["say", "a b"]);
  expect(load("", { BLEMEESD_NOTIFY_COMMAND: '["say", "a b"]' }).notify_command).toEqual(["say", "a b"]);
  expect(load("", { BLEMEESD_NOTIFY_COMMAND: "/opt/my hook" }).notify_command).toEqual(["/opt/my hook"]);
  for (const bad of ['["say"', "[1]", "[]"]) {
    expect(() => load("", { BLEMEESD_NOTIFY_COMMAND: bad })).toThrow(/BLEMEESD_NOTIFY_COMMAND/);
  }
});

test("notify_on takes only known events; notify_children is a boolean", () => {
  expect(load('notify_on = ["stalled"]').notify_on).toEqual(["stalled"]);
  expect(load("", { BLEMEESD_NOTIFY_ON: "waits, done" }).notify_on).toEqual(["waits", "done"]);
  expect(() => load('notify_on = ["finished"]')).toThrow(/notify_on/);
  expect(load("notify_children = true").notify_children).toBe(true);
  expect(load("", { BLEMEESD_NOTIFY_CHILDREN: "0" }).notify_children).toBe(false);
  expect(() => load("", { BLEMEESD_NOTIFY_CHILDREN: "maybe" })).toThrow(/BLEMEESD_NOTIFY_CHILDREN/);
});
