import { describe, expect, test } from "vitest";
import {
  describeBase,
  describeFile,
  describeNotCovered,
  describeTurn,
  explainNoChanges,
  explainNoLines,
  formatBytes,
  stepTurn,
  toFileKey,
} from "../../../src/client/view/change-list.ts";
import { aFile, aFileReply, aHunk, aReply } from "./changed-files.ts";

const TURN = {
  turn: 1,
  turn_id: "t",
  started_at_ms: 1,
  ended_at_ms: 2,
  files: 2,
  additions: 10,
  deletions: 4,
};

test("what is special about a file is said", () => {
  const cases = [
    [{ binary: true, bytes: 12_345 }, ["binary, 12 kB"]],
    [{ too_large: true, bytes: 212_000_000 }, ["too large, 212 MB"]],
    [{ submodule: true }, ["nested repository"]],
    [{ generated: true }, ["generated"]],
    [{ old_mode: "100644", new_mode: "100755" }, ["now executable"]],
    [{ old_mode: "100755", new_mode: "100644" }, ["no longer executable"]],
    [{}, []],
  ] as const;
  for (const [more, words] of cases) expect(describeFile(aFile("a", more))).toEqual(words);
});

test("a file without lines says why", () => {
  const none = aFileReply([]);
  expect(explainNoLines(aFile("a", { too_large: true }))).toMatch(/content was not kept/);
  expect(explainNoLines(aFile("a", { submodule: true }))).toMatch(/repository of its own/);
  expect(explainNoLines(aFile("a", { binary: true }))).toMatch(/Binary/);
  expect(explainNoLines(aFile("a"))).toBeUndefined();
  expect(explainNoLines(aFile("a"), aFileReply([aHunk(["+a"])]))).toBeUndefined();
  expect(explainNoLines(aFile("a"), { ...none, binary: true })).toMatch(/Binary/);
  expect(explainNoLines(aFile("a", { status: "renamed" }), none)).toMatch(/Renamed without/);
  expect(explainNoLines(aFile("a", { old_mode: "100644", new_mode: "100755" }), none)).toMatch(/mode/);
  expect(explainNoLines(aFile("a", { status: "added" }), none)).toMatch(/empty/);
});

describe("an empty list says why", () => {
  const empty = (more = {}) => aReply([], more);
  test.each([
    [
      "the daemon's reason",
      empty({ state: "none", reason: "not a git repository", turns: [] }),
      undefined,
      false,
      "not a git repository",
    ],
    ["no turn yet", empty({ turns: [] }), undefined, false, "No turn has run"],
    ["a turn is running", empty({ turns: [] }), undefined, true, "when the turn ends"],
    ["nothing differs", empty(), undefined, false, "No files differ"],
    ["a turn without changes", empty(), 1, false, "Turn 1 changed no files."],
    [
      "a turn that was skipped",
      empty({ turns: [{ ...TURN, skipped: "it took too long" }] }),
      1,
      false,
      "unknown: it took too long.",
    ],
  ])("%s", (_, reply, turn, isWorking, words) => {
    expect(explainNoChanges(reply, turn, isWorking)).toContain(words);
  });

  test("the running turn", () => {
    const { ended_at_ms: _, ...running } = TURN;
    expect(explainNoChanges(empty({ turns: [running] }), 1, true)).toBe(
      "Turn 1 is running and has changed no files so far.",
    );
  });
});

test("turns in one line", () => {
  const { ended_at_ms: _, ...running } = { ...TURN, files: 0 };
  expect(describeTurn(TURN)).toBe("turn 1: 2 files +10 −4");
  expect(describeTurn({ ...TURN, files: 0 })).toBe("turn 1: no changes");
  expect(describeTurn({ ...TURN, skipped: "slow" })).toBe("turn 1: unknown");
  expect(describeTurn(running)).toBe("turn 1: running");
});

test("the filter steps through all turns, the base, and back to the session", () => {
  const turns = [TURN, { ...TURN, turn: 2 }];
  expect(stepTurn(turns, undefined, 1)).toBe(1);
  expect(stepTurn(turns, 2, 1)).toBe("base");
  expect(stepTurn(turns, "base", 1)).toBeUndefined();
  expect(stepTurn(turns, undefined, -1)).toBe("base");
  expect(stepTurn([], undefined, 1)).toBeUndefined();
});

test("the base is named by its commit and branch, or by why it is the first checkpoint", () => {
  expect(describeBase({ commit: "0123456789abcdef", ref: "refs/remotes/origin/main" })).toBe(
    "Since 0123456789, where the branch left origin/main",
  );
  expect(describeBase({ commit: "0123456789abcdef" })).toBe("Since 0123456789");
  expect(describeBase({})).toBe("Since the session began");
  expect(describeBase({ reason: "x" })).toBe("Since the first checkpoint: x");
});

test("parts that no checkpoint has are named", () => {
  const parts = [
    { path: "vendor/x", why: "nested_repository" },
    { path: "big.iso", why: "too_large" },
  ] as const;
  expect(describeNotCovered(aReply([]))).toBeUndefined();
  expect(describeNotCovered(aReply([], { not_covered: [...parts] }))).toBe(
    "Not covered by checkpoints: vendor/x (a nested repository), and 1 more.",
  );
});

test("sizes and keys", () => {
  expect([0, 999, 1_000, 12_345, 999_600, 10_000_000].map(formatBytes)).toEqual([
    "0 bytes",
    "999 bytes",
    "1.0 kB",
    "12 kB",
    "1.0 MB",
    "10 MB",
  ]);
  expect(toFileKey({ path: "a�", path_b64: "Yf8=" })).not.toBe(toFileKey({ path: "a�", path_b64: "Yf4=" }));
});
