// A state directory that cannot be used: one sentence with the path, the reason and what to do, and exit 1.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { envOf, newHome, PROGRAM, removeHomes, run } from "./program.ts";

afterAll(removeHomes);

/** Exactly one sentence for the user, no stack, and the socket was never taken. */
function expectRefusal(
  home: string,
  { status, stderr }: { status: number | null; stderr: string },
  words: RegExp,
) {
  expect(status).toBe(1);
  const told = stderr.split("\n").filter((line) => line.startsWith("blemeesd: "));
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(words);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(existsSync(join(home, "run/blemeesd.sock"))).toBe(false);
}

test("a file in its place, or in the path to it", () => {
  const home = newHome();
  const file = join(home, "file");
  writeFileSync(file, "mine");
  for (const path of [file, join(file, "deeper/still")]) {
    const words = new RegExp(`cannot keep the history in ${path}: .*not a directory.*--state-dir DIR`);
    expectRefusal(home, run(["--state-dir", path], home), words);
  }
  expectRefusal(
    home,
    run([], home, { BLEMEESD_EVENT_LOG_DIR: file }),
    /not a directory.*--event-log-dir DIR/,
  );
});

test("a directory that cannot be written, or cannot be created", () => {
  const home = newHome();
  const locked = join(home, "locked");
  mkdirSync(locked);
  chmodSync(locked, 0o500);
  // Root may write everywhere, so another user is used then.
  const isRoot = process.getuid?.() === 0;
  for (const path of isRoot ? ["/sys/blemees"] : [locked, join(locked, "new")]) {
    const ended = spawnSync(process.execPath, [PROGRAM, "--state-dir", path], {
      encoding: "utf8",
      env: envOf(home),
      timeout: 20_000,
    });
    expectRefusal(
      home,
      ended,
      /cannot keep the history in .*: (this user has no write permission|it is on a read-only).*--state-dir/,
    );
  }
  expect(readdirSync(locked)).toEqual([]);
});

test("a directory where the database should be", () => {
  const home = newHome();
  const state = join(home, "state/blemees");
  mkdirSync(join(state, "blemees.db"), { recursive: true });
  const { status, stderr } = run([], home);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^blemeesd: cannot keep the history in .*state\/blemees: .*--state-dir DIR/m);
  expect(stderr).not.toMatch(/^\s+at /m);
});
