// Untrusted text, in every part of the screen except the feed (see rows/hostile.test.ts).
import { describe, expect, test } from "vitest";
import { measureWidth } from "../../../src/base/width.ts";
import type { SessionView } from "../../../src/protocol/views.ts";
import { commandRequest, inputRequest } from "../support/scripted-driver.ts";
import { keys, liveView, Player, typed } from "../support/ui.ts";

const EVIL = "\u001b[2J\u001b]0;owned\u0007a\nb\rc\u009b31m\u202ed\u200be\u0000\t\ud800";
/** Nothing of ours is in color here, so no control character or reordering character may be left. */
const FORBIDDEN = /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b-\u200f]/u;

const SESSION = {
  name: EVIL,
  title: EVIL,
  backend: EVIL,
  model: EVIL,
  cwd: EVIL,
  held: EVIL,
  activity_state: EVIL,
  turn: { started_at_ms: 1 },
} as unknown as SessionView;
const REQUEST = commandRequest("s", EVIL);

function expectClean(player: Player): void {
  const { rows } = player.frame();
  expect(rows).toHaveLength(player.ui.size.rows);
  for (const row of rows) {
    expect(row).not.toMatch(FORBIDDEN);
    expect(measureWidth(row)).toBeLessThanOrEqual(player.ui.size.columns);
  }
}

describe.each([
  [80, 24],
  [120, 40],
  [40, 12],
  [20, 5],
])("at %ix%i no escape of others comes through", (columns, rows) => {
  const size = { columns, rows };
  const open = (change = {}) => new Player({ view: liveView({ session: SESSION, ...change }), size });

  test("in header and status line", () => {
    expectClean(open());
    expectClean(open({ link: { state: "lost", message: EVIL } }));
    expectClean(open({ closed: EVIL }));
  });

  test("in notices", () => {
    const at_ms = 1_000_000;
    expectClean(open().event({ kind: "report", level: "error", text: EVIL, at_ms }));
    expectClean(open().event({ kind: "send_failed", text: EVIL, message: EVIL, at_ms }));
  });

  test("in the queue", () => {
    const message = { role: "user", content: EVIL } as const;
    expectClean(open({ queue: [{ message_id: "m", kind: "wake", from: EVIL, message, queued_at_ms: 1 }] }));
  });

  test("in pending requests and decisions", () => {
    expectClean(open({ requests: [REQUEST] }));
    expectClean(open({ requests: [REQUEST] }).press(...keys("ctrl-n")));
    expectClean(open({ requests: [REQUEST] }).press(...keys("ctrl-n", "d")));
  });

  test("in what a choice remembers and writes, which cannot look like a choice", () => {
    const note = `${EVIL}\n> 9 y Accept`;
    const writes = [{ path: note, content: note }];
    const choice = { decision: "acceptForSession", remembers: [note], writes } as const;
    for (const count of [1, 12]) {
      const choices = Array.from({ length: count }, (_, at) => ({ ...choice, option: `o${at}` }));
      const row = { ...REQUEST, payload: { ...REQUEST.payload, choices } };
      const player = open({ requests: [row] }).press(...keys("ctrl-n"));
      expectClean(player);
      expect(player.screen()).not.toMatch(/^[> ] 9 y/m);
    }
  });

  test("in questions and their options", () => {
    const question = { id: "q", question: EVIL, header: EVIL, options: [{ label: EVIL, description: EVIL }] };
    const payload = { ...REQUEST.payload, questions: [question, { ...question, id: "r" }] };
    const player = open({ requests: [{ ...inputRequest("s"), payload }] }).press(...keys("ctrl-n"));
    expectClean(player);
    expectClean(player.press(...keys("1", "1")));
  });

  test("in pickers, commands and a search", () => {
    const picker = { key: "m", title: EVIL };
    const commands = [{ name: `/${EVIL}`, summary: EVIL }];
    const player = new Player({ view: liveView(), size, pickers: [picker], commands }).press(...keys("m"));
    player.event({
      kind: "picker",
      key: "m",
      options: [{ value: EVIL, label: EVIL, detail: EVIL, problem: EVIL }],
    });
    expectClean(player);
    expectClean(player.press(...keys("escape"), ...typed("/")));
    expectClean(player.press(...keys("ctrl-f"), { kind: "paste", text: EVIL }));
  });

  test("in what the user types", () => {
    expectClean(open().press({ kind: "paste", text: EVIL }));
  });
});
