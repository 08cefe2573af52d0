// The file of the highest seqs used.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { nodeFileSystem } from "../../src/store/disk/file-system.ts";
import type { Recovery } from "../../src/store/index.ts";
import { openOldMarks } from "../../src/store/open-marks.ts";
import { SeqMarks } from "../../src/store/seq-marks.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "blemees-marks-"));
  path = join(dir, "seqs");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function using<T>(work: (marks: SeqMarks) => T): T {
  const marks = new SeqMarks(nodeFileSystem, path);
  try {
    return work(marks);
  } finally {
    marks.close();
  }
}

const LONG_ID = "x".repeat(128);

test("a raised mark survives a restart, private to the user; a lower seq changes nothing", () => {
  using((marks) => {
    marks.raise("a", 5);
    marks.raise(LONG_ID, 2 ** 52);
    marks.raise("a", 3);
    marks.raise("a", 700);
  });
  expect(using((marks) => marks.all())).toEqual(
    new Map([
      ["a", 700],
      [LONG_ID, 2 ** 52],
    ]),
  );
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a deleted session has no mark, and its slot is reused", () => {
  using((marks) => {
    marks.raise("a", 5);
    marks.raise("b", 6);
    marks.forget("a");
    marks.forget("unknown");
    expect(marks.get("a")).toBe(0);
  });
  const size = statSync(path).size;
  using((marks) => marks.raise("c", 7));
  expect(statSync(path).size).toBe(size);
  expect(using((marks) => [...marks.all()])).toEqual([
    ["c", 7],
    ["b", 6],
  ]);
});

test.each([
  ["a changed seq", (bytes: Buffer) => bytes.writeDoubleLE(9e15, 0)],
  ["a changed id", (bytes: Buffer) => bytes.write("z", 13)],
  ["zeros", (bytes: Buffer) => bytes.fill(0, 0, 256)],
  ["garbage", (bytes: Buffer) => bytes.fill(0xa5, 0, 256)],
])("%s in one place loses only that one", (_what, damage) => {
  using((marks) => {
    marks.raise("a", 5);
    marks.raise("b", 6);
  });
  const bytes = readFileSync(path);
  damage(bytes);
  writeFileSync(path, bytes);
  expect(using((marks) => [...marks.all()])).toEqual([["b", 6]]);
});

test("a file that was cut keeps its whole slots and continues", () => {
  using((marks) => {
    marks.raise("a", 5);
    marks.raise("b", 6);
  });
  truncateSync(path, 300);
  using((marks) => {
    expect([...marks.all()]).toEqual([["a", 5]]);
    marks.raise("c", 7);
  });
  expect(using((marks) => [...marks.all()])).toEqual([
    ["a", 5],
    ["c", 7],
  ]);
});

test("the marks of a run are moved to those of earlier ones at the next start, and none gets lower", async () => {
  const options = { now: Date.now, onRecovery: () => undefined };
  const none = { read: () => new Map<string, number>(), taken: () => undefined };
  for (const [a, b] of [
    [5, 6],
    [4, 9],
  ] as const) {
    using((marks) => {
      marks.raise("a", a);
      marks.raise("b", b);
    });
    (await openOldMarks(path, none, options)).close();
    expect(using((marks) => marks.all().size)).toBe(0);
  }
  const taken = vi.fn();
  const more = { read: () => new Map([["c", 3]]), taken };
  const old = await openOldMarks(path, more, options);
  expect(["a", "b", "c", "d"].map((id) => old.get(id))).toEqual([5, 9, 3, 0]);
  expect(taken).toHaveBeenCalledOnce();
  old.delete("b");
  old.close();
  const next = await openOldMarks(path, none, options);
  expect([next.get("a"), next.get("b")]).toEqual([5, 0]);
  next.close();
});

test("if earlier marks cannot be opened, those of the last run still count, are kept, and it is reported", async () => {
  using((marks) => marks.raise("a", 5));
  mkdirSync(`${path}.db`);
  const found: Recovery[] = [];
  const options = { now: Date.now, onRecovery: (one: Recovery) => void found.push(one) };
  const old = await openOldMarks(path, { read: () => new Map(), taken: () => undefined }, options);
  expect([old.get("a"), old.get("b")]).toEqual([5, 0]);
  old.close();
  expect(found).toMatchObject([{ message: expect.stringMatching(/seqs\.db cannot be used/) }]);
  expect(using((marks) => marks.get("a"))).toBe(5);
});
