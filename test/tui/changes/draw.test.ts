// What the changes screen shows, at any size, whatever the names and lines are.
import { describe, expect, test } from "vitest";
import { measureWidth } from "../../../src/base/width.ts";
import type { ChangesState, OpenedFile } from "../../../src/client/view/change-source.ts";
import type { ChangedFile } from "../../../src/protocol/changes.ts";
import { drawChanges } from "../../../src/tui/changes/draw.ts";
import { drawFileLines } from "../../../src/tui/changes/lines.ts";
import { type ChangesUi, FIRST_CHANGES_UI, setChanges } from "../../../src/tui/changes/state.ts";
import { aFile, aFileReply, aHunk, aReply } from "../../client/view/changed-files.ts";

const EVIL = "\u001b[2J\u001b]0;owned\u0007a\nb\rc\u009b31m\u202ed\u200be\u0000\t\ud800";
const FORBIDDEN = /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b-\u200f]/u;
const LOOK = { hasColor: false, isAscii: false };
const FILES: ChangedFile[] = [
  aFile("src/cart/total.ts", { additions: 23, deletions: 5, turns: [1, 2] }),
  { path: "public/logo.png", status: "added", binary: true, bytes: 12_345, turns: [2] },
  aFile("package-lock.json", { status: "deleted", generated: true }),
  aFile("a/very/long/path/that/does/not/fit/into/a/narrow/terminal/at/all/file.ts", {
    old_path: "before.ts",
    status: "renamed",
  }),
];

function show(
  change: Partial<ChangesState>,
  more: Partial<ChangesUi> = {},
  size = { columns: 80, rows: 12 },
  file?: OpenedFile,
) {
  const reply = aReply([], { totals: { files: 4, additions: 24, deletions: 6 } });
  const ui = {
    ...setChanges(FIRST_CHANGES_UI, { reply, files: FILES, isLoading: false, opened: new Map(), ...change }),
    ...more,
  };
  const selected = ui.changes.files[ui.index];
  const lines = selected === undefined ? [] : drawFileLines(selected, file, size.columns);
  return drawChanges(ui, size, { title: "fixer", look: LOOK, lines });
}

test("files with status, contents, turns and counts", () => {
  expect(show({}).map((row) => row.trimEnd())).toEqual([
    "Changes  fixer                                                    4 files +24 -6",
    "all turns",
    "▌ modified src/cart/total.ts                                  turns 1, 2  +23 -5",
    "  added    public/logo.png  binary, 12 kB                         turn 2",
    "  deleted  package-lock.json  generated                           turn 1   +1 -1",
    "  renamed  before.ts → …/into/a/narrow/terminal/at/all/file.ts    turn 1   +1 -1",
    "",
    "",
    "",
    "",
    "",
    "Enter lines · t turn · u undo · r refresh · Esc session · ? keys",
  ]);
});

test("the lines of a file, with both numbers; a long line continues", () => {
  const reply = aFileReply(
    [aHunk([" const a = 1;", "-const b = 2;", `+const b = ${"3".repeat(40)};`], 9, "f()")],
    "src/cart/total.ts",
  );
  const rows = show(
    {},
    { mode: { kind: "file", top: 0 } },
    { columns: 46, rows: 9 },
    { isLoading: false, reply },
  );
  expect(rows.slice(1, 7).map((row) => row.trimEnd())).toEqual([
    "modified src/cart/total.ts      1 of 4  +23 -5",
    "@@ -9,2 +9,2 @@ f()",
    " 9  9   const a = 1;",
    "10    - const b = 2;",
    `   10 + const b = ${"3".repeat(28)}`.slice(0, 46),
    `        ${"3".repeat(12)};`,
  ]);
});

test("tabs in highlighted parts of a line end at the same columns", () => {
  const reply = aFileReply([aHunk(["+\tif (a)\treturn;"])], "src/cart/total.ts");
  const [, row] = drawFileLines(aFile("src/cart/total.ts"), { isLoading: false, reply }, 80);
  expect(row?.map(({ text }) => text).join("")).toBe("  1 +     if (a)  return;");
});

test("reasons instead of files or lines", () => {
  const none = aReply([], {
    state: "none",
    reason: "git is not on the PATH",
    turns: [],
    totals: { files: 0, additions: 0, deletions: 0 },
  });
  expect(show({ reply: none, files: [] }).join("\n")).toContain("git is not on the PATH");
  expect(show({ problem: "the daemon said no" }).join("\n")).toContain("the daemon said no");
  expect(show({}, { index: 1, mode: { kind: "file", top: 0 } }).join("\n")).toContain("Binary file");
  expect(show({}, { mode: { kind: "file", top: 0 } }).join("\n")).toContain("loading…");
  const failed = { isLoading: false, problem: "gone" };
  expect(show({}, { mode: { kind: "file", top: 0 } }, undefined, failed).join("\n")).toContain("gone");
});

test("at most 5,000 lines are drawn", () => {
  const reply = aFileReply([aHunk(Array.from({ length: 6_000 }, (_, at) => `+${at}`))], "a.txt");
  const lines = drawFileLines(aFile("a.txt"), { isLoading: false, reply }, 80);
  expect(lines).toHaveLength(5_002);
  expect(lines.at(-1)?.[0]?.text).toContain("1000 more lines: sm diff shows them");
});

describe.each([
  [80, 24],
  [120, 40],
  [40, 12],
  [20, 5],
  [8, 3],
])("at %ix%i", (columns, rows) => {
  const size = { columns, rows };
  const file = aFile(EVIL, { old_path: EVIL, status: "renamed", turns: [1, 2, 3, 4, 5, 6] });
  const reply = aReply([], { state: "none", reason: EVIL, not_covered: [{ path: EVIL, why: "unreadable" }] });
  const line = EVIL.replace("\n", "");
  const opened = {
    isLoading: false,
    reply: aFileReply([aHunk([` ${line}`, `-${line}x`, `+${line}y`], 1, EVIL)], EVIL),
  };

  test.each([
    ["the list", { files: [file] }, {}],
    ["an empty list", { files: [] }, {}],
    ["a problem", { files: [file], problem: EVIL }, {}],
    ["the lines", { files: [file] }, { mode: { kind: "file", top: 0 } as const }],
    ["the help", {}, { mode: { kind: "help", top: 0, isInFile: false } as const }],
  ])("%s fits, and no escape of others comes through", (_, change, more) => {
    const drawn = show({ reply, ...change }, more, size, opened);
    expect(drawn.length).toBeLessThanOrEqual(rows);
    for (const row of drawn) {
      expect(row).not.toMatch(FORBIDDEN);
      expect(measureWidth(row)).toBeLessThanOrEqual(columns);
    }
  });
});
