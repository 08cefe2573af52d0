// The log never fails its caller.
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLog } from "../../src/base/log.ts";
import { tempDir } from "../backends/temp-dir.ts";

const dir = tempDir("log");

test("lines are JSON objects in the file", () => {
  const file = join(dir, "daemon.log");
  createLog("info", file).with({ session_id: "s" }).info("session.open", { n: 1 });
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    level: "info",
    event: "session.open",
    session_id: "s",
    n: 1,
  });
});

test("lines below the level are left out, and fields that are not JSON cost only themselves", () => {
  const file = join(dir, "level.log");
  const log = createLog("warn", file);
  log.info("session.open");
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  log.error("daemon.crashed", { cycle });
  createLog("silent", join(dir, "silent.log")).error("daemon.crashed");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    level: "error",
    ts: expect.any(String),
    event: "daemon.crashed",
  });
});

// Every write to /dev/full fails with ENOSPC.
test.skipIf(process.platform !== "linux")("a full disk does not fail the caller", () => {
  const full = openSync("/dev/full", "w");
  expect(() => writeSync(full, "x")).toThrow("ENOSPC");
  closeSync(full);
  const log = createLog("info", "/dev/full");
  for (let n = 0; n < 3000; n += 1) log.info("session.open", { text: "x".repeat(1000) });
  log.with({ session_id: "s" }).error("daemon.crashed");
});
