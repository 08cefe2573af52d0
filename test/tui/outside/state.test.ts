// The list of sessions that were started outside: keys and rows.
import stringWidth from "string-width";
import { expect, test } from "vitest";
import type { TranscriptView } from "../../../src/client/http/types.ts";
import { drawOutside } from "../../../src/tui/outside/draw.ts";
import {
  addPage,
  FIRST_OUTSIDE_UI,
  type OutsideEffect,
  type OutsideUi,
  onOutsideInput,
  showOutsideProblem,
} from "../../../src/tui/outside/state.ts";

const NOW_MS = 1_000_000_000;

function aTranscript(session_id: string, more: Partial<TranscriptView> = {}): TranscriptView {
  return {
    session_id,
    backend: "claude",
    provider: "claude",
    project: "/home/me/shop",
    title: `about ${session_id}`,
    last_active_at_ms: NOW_MS - 60_000,
    size_bytes: 100,
    ...more,
  };
}

function press(ui: OutsideUi, ...keys: string[]): { ui: OutsideUi; effects: OutsideEffect[] } {
  const effects: OutsideEffect[] = [];
  let next = ui;
  for (const key of keys) {
    const input =
      key.length === 1 ? ({ kind: "text", text: key } as const) : ({ kind: "key", chord: key } as const);
    const step = onOutsideInput(next, input, 5);
    next = step.ui;
    effects.push(...step.effects);
  }
  return { ui: next, effects };
}

const draw = (ui: OutsideUi, columns = 80, look = { hasColor: false, isAscii: false }): string[] =>
  drawOutside(ui, { columns, rows: 12 }, { look, nowMs: NOW_MS });

const [A, B, C] = [aTranscript("a"), aTranscript("b"), aTranscript("c", { open_in_pid: 77 })];
const LIST = addPage(FIRST_OUTSIDE_UI, { transcripts: [A, B, C] }, false);

test("each is a row with agent, activity, project and title; one in use says where", () => {
  const rows = draw(press(LIST, "j").ui);
  expect(rows[1]).toMatch(/AGENT +ACTIVE +PROJECT +TITLE/);
  expect(rows[2]).toMatch(/^ {2}claude +1m shop +about a$/);
  expect(rows[3]).toMatch(/^▌ claude +1m shop +about b/);
  expect(rows[4]).toMatch(/open in process 77 +about c$/);
});

test("Enter reads the selected one, c continues it, once", () => {
  expect(press(LIST, "j", "enter").effects).toEqual([{ kind: "read", transcript: B }]);
  const { ui, effects } = press(LIST, "c", "c");
  expect(effects).toEqual([{ kind: "adopt", transcript: A }]);
  expect(draw(ui).join("\n")).toContain("starting its agent…");
  const failed = showOutsideProblem(ui, "it is open in another program\u001b[31m");
  expect(draw(failed).join("\n")).toContain("it is open in another program\\x1b[31m");
  expect(press(failed, "c").effects).toHaveLength(1);
});

test("the end of the list loads the next page once, and the selection stays", () => {
  const first = addPage(FIRST_OUTSIDE_UI, { transcripts: [A, B], next: "n1" }, false);
  const { ui, effects } = press(first, "G", "G", "down");
  expect(effects).toEqual([{ kind: "load", after: "n1" }]);
  const whole = addPage(ui, { transcripts: [C] }, true);
  expect(whole.transcripts).toEqual([A, B, C]);
  expect(whole).toMatchObject({ index: 1, isLoading: false });
  expect(press(whole, "G").effects).toEqual([]);
  const again = press(whole, "r");
  expect(again.effects).toEqual([{ kind: "load" }]);
  expect(addPage(again.ui, { transcripts: [C, B] }, false)).toMatchObject({ index: 1 });
});

test("an empty list says what would be in it; a paste is not a key", () => {
  const none = addPage(FIRST_OUTSIDE_UI, { transcripts: [] }, false);
  expect(draw(FIRST_OUTSIDE_UI).join("\n")).toContain("loading…");
  expect(draw(none).join("\n")).toMatch(/No agent was started outside\.[\s\S]*appears here/);
  expect(press(none, "enter", "c", "j", "G").effects).toEqual([]);
  expect(onOutsideInput(LIST, { kind: "paste", text: "c" }, 5).effects).toEqual([]);
  expect(press(LIST, "?", "c", "escape").effects).toEqual([{ kind: "back" }]);
});

test("whatever titles contain, each row is one row, fits, and has no control character", () => {
  const texts = ["\u001b[2J\u0007", "\u202egnp.exe", "a\nb\tc\r", "日本語".repeat(40), ""];
  const transcripts = texts.map((title) => aTranscript(title, { title, provider: title, project: title }));
  const ui = addPage(FIRST_OUTSIDE_UI, { transcripts }, false);
  for (const columns of [20, 40, 80, 140])
    for (const row of draw(ui, columns)) {
      expect(row).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      expect(stringWidth(row)).toBeLessThanOrEqual(columns);
    }
  for (const row of draw(ui, 80, { hasColor: false, isAscii: true })) expect(row).toMatch(/^[ -~]*$/);
});
