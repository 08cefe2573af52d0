// The inbox as rows of text.
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { aRequest, InboxPlayer } from "./inbox-world.ts";

const EDIT = aRequest("port", {
  title: "Edit: src/config.ts",
  tool_name: "Edit",
  command: undefined as never,
  changes: [
    {
      path: "src/config.ts",
      kind: "update",
      diff: "@@ -1,5 +1,5 @@\n a\n b\n-port = 8080\n+port = 8081\n c\n d\n",
    },
  ],
});
const LONG = aRequest("table", {
  title: "Edit: src/table.ts",
  tool_name: "Edit",
  command: undefined as never,
  changes: [
    {
      path: "src/table.ts",
      kind: "update",
      diff: `@@ -1,200 +1,200 @@\n${[..."-+"].flatMap((sign) => Array.from({ length: 200 }, (_, at) => `${sign}row ${at}`)).join("\n")}\n`,
    },
  ],
});
const LAST_CHOICE = "3 c Decline and stop the turn";

test("in 80×24 there is the list, a one-line edit in full, and each choice once", () => {
  const rows = new InboxPlayer([EDIT, aRequest("kid")]).frame().rows;
  const screen = rows.join("\n");
  expect(rows).toHaveLength(24);
  expect(rows[0]?.trimEnd()).toBe("Inbox  2 pending requests · 2 sessions · oldest 0s");
  expect(rows[1]).toMatch(/^▌ +0s {2}port +shop +edit src\/config\.ts$/);
  expect(rows[2]).toMatch(/^ {3,}0s {2}kid +shop +run npm test$/);
  expect(screen).toContain("-port = 8080\n  │ +port = 8081");
  for (const choice of ["1 y Accept once", "> 2 n Decline", LAST_CHOICE])
    expect(screen.split(choice)).toHaveLength(2);
  expect(screen).not.toContain("more row");
});

test("a diff of 400 lines scrolls, and its choices stay in sight", () => {
  const player = new InboxPlayer([LONG]);
  expect(player.screen()).toContain("row 0");
  const seen = new Set<string>();
  for (let page = 0; page < 60; page += 1) {
    expect(player.screen()).toContain(LAST_CHOICE);
    for (const row of player.frame().rows) seen.add(row);
    player.press("pagedown");
  }
  expect(player.screen()).toContain("end; PgUp scrolls back");
  for (let at = 0; at < 200; at += 1)
    for (const sign of ["-", "+"]) expect(seen).toContain(`  │ ${sign}row ${at}`);
});

test("whatever is in names and requests, each row is one row, fits, and has no control character", () => {
  const hostile = [
    "\u001b[2J\u0007",
    "\u202egnp.exe",
    "a\nb\tc\r",
    "日本語".repeat(40),
    `e${"\u0301".repeat(50)}`,
  ];
  for (const text of hostile)
    for (const columns of [20, 40, 80, 140]) {
      const row = aRequest(text, { command: text, reason: text, title: text });
      const player = new InboxPlayer([row, aRequest("other")], { size: { columns, rows: 24 } });
      for (const keys of [[], ["d"], ["n"], ["?"], ["j"]]) {
        const { rows } = player.press(...keys).frame();
        expect(rows).toHaveLength(24);
        for (const line of rows) {
          expect(line).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
          expect(stringWidth(line)).toBeLessThanOrEqual(columns);
        }
        player.press("escape");
      }
    }
});

test("where only ASCII can be shown nothing else is written", () => {
  const player = new InboxPlayer([aRequest("é"), aRequest("日", { command: "é" })], {
    look: { hasColor: false, isAscii: true },
  });
  for (const key of ["j", "d", "n", "escape", "?"])
    for (const row of player.press(key).frame().rows) expect(row).toMatch(/^[ -~]*$/);
});

test("with hundreds of requests the open one is always in the list", () => {
  const many = Array.from({ length: 200 }, (_, at) => aRequest(`s${at}.`, { command: `run ${at}` }));
  const player = new InboxPlayer(many);
  for (const key of ["j", "j", "k", "k", "k"]) {
    const { rows } = player.press(key).frame();
    const [open] = rows.filter((row) => row.startsWith("▌"));
    expect(open).toContain(` ${player.inbox.ui.focus?.replace("req_", "")} `);
  }
});

test("the help has the keys of the inbox and those that decide", () => {
  const player = new InboxPlayer([EDIT], { size: { columns: 80, rows: 50 } }).press("?");
  expect(player.screen()).toMatch(/o +open the session that asks/);
  expect(player.screen()).toMatch(/y +accept$/m);
  expect(player.press("y").answers).toEqual([]);
  expect(player.screen()).toContain("1 y Accept once");
});
