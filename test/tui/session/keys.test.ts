import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measureWidth } from "../../../src/base/width.ts";
import { KEYS } from "../../../src/tui/keys/table.ts";
import { commandRequest, inputRequest } from "../support/scripted-driver.ts";
import { keys, liveView, Player, textEntry, toolEntry, typed } from "../support/ui.ts";

const RUNNING = liveView({ turn: { started_at_ms: 1 } });

describe("interrupt and leave", () => {
  test("Ctrl-C interrupts the turn, a second one leaves", () => {
    const player = new Player({ view: RUNNING }).press(...keys("ctrl-c"));
    expect(player.effects).toEqual([{ kind: "interrupt" }]);
    expect(player.screen()).toContain("Ctrl-C again to quit");
    player.press(...keys("ctrl-c"));
    expect(player.effects.at(-1)).toEqual({ kind: "leave", code: 0 });
  });

  test("a second Ctrl-C much later does not leave", () => {
    const player = new Player().press(...keys("ctrl-c"));
    player.now_ms += 10_000;
    expect(player.press(...keys("ctrl-c")).effects).toEqual([]);
  });

  test("without a turn Ctrl-C clears what is written first", () => {
    const player = new Player().press(...typed("x"), ...keys("ctrl-c"));
    expect(player.ui.editor.text).toBe("");
    expect(player.effects).toEqual([]);
  });

  test("Esc asks once before it interrupts", () => {
    const player = new Player({ view: RUNNING }).press(...keys("escape"));
    expect(player.effects).toEqual([]);
    expect(player.screen()).toContain("Esc again to interrupt");
    expect(player.press(...keys("escape")).effects).toEqual([{ kind: "interrupt" }]);
  });

  test("Esc goes back to a list below, but not over a draft", () => {
    expect(new Player({ canGoBack: true, view: RUNNING }).press(...keys("escape")).effects).toEqual([
      { kind: "back" },
    ]);
    expect(new Player({ canGoBack: true }).press(...typed("x"), ...keys("escape")).effects).toEqual([]);
  });
});

describe("commands and pickers", () => {
  const commands = [
    { name: "/compact", summary: "shorter" },
    { name: "/stop", summary: "stop", isAlways: true },
  ];
  const pickers = [{ key: "m", title: "model", takesText: true }];

  test("Tab completes a command, Enter runs it with the rest", () => {
    const player = new Player({ commands }).press(
      ...typed("/co"),
      ...keys("tab"),
      ...typed("now"),
      ...keys("enter"),
    );
    expect(player.effects).toEqual([{ kind: "command", name: "/compact", rest: "now" }]);
    expect(player.press(...keys("up")).ui.editor.text).toBe("");
  });

  test("what is no command of the screen goes to the agent", () => {
    const player = new Player({ commands }).press(...typed("/review"), ...keys("enter"));
    expect(player.effects).toEqual([{ kind: "send", text: "/review", how: "queue" }]);
  });

  test("while a turn runs only some commands work", () => {
    const player = new Player({ commands, view: RUNNING });
    expect(player.press(...typed("/compact"), ...keys("enter")).effects).toEqual([]);
    player.press(...keys("ctrl-u"), ...typed("/stop"), ...keys("enter"));
    expect(player.effects).toEqual([{ kind: "command", name: "/stop", rest: "" }]);
  });

  test("/exit leaves, also while a request waits", () => {
    const view = liveView({ requests: [commandRequest("s", "x")] });
    const player = new Player({ view }).press(...keys("escape"));
    expect(player.press(...typed("/exit"), ...keys("enter")).effects).toEqual([{ kind: "leave", code: 0 }]);
  });

  test("/help shows the keys and is not sent", () => {
    const player = new Player({ commands }).press(...typed("/help"), ...keys("enter"));
    expect(player.effects).toEqual([]);
    expect(player.ui).toMatchObject({ overlay: { kind: "help" }, editor: { text: "" } });
  });

  test("after a leading space even a command is a message, and keeps the space", () => {
    const player = new Player({ commands }).press(...typed(" /compact"), ...keys("enter"));
    expect(player.effects).toEqual([{ kind: "send", text: " /compact", how: "queue" }]);
  });

  test("a picker opens only while nothing is written", () => {
    const player = new Player({ pickers }).press(...keys("m"));
    expect(player.effects).toEqual([{ kind: "load_picker", key: "m" }]);
    expect(new Player({ pickers }).press(...typed("am")).ui.editor.text).toBe("am");
  });

  test("a picker takes the marked option, one as typed, and none that cannot be", () => {
    const options = [
      { value: "a", label: "a" },
      { value: "b", label: "b", isCurrent: true },
      { value: "c", label: "c", problem: "no key" },
    ];
    const open = () =>
      new Player({ pickers }).press(...keys("m")).event({ kind: "picker", key: "m", options });
    expect(
      open()
        .press(...keys("enter"))
        .effects.at(-1),
    ).toMatchObject({ kind: "choose", value: "b" });
    expect(
      open()
        .press(...typed("own-1"), ...keys("enter"))
        .effects.at(-1),
    ).toMatchObject({ value: "own-1" });
    const refused = open().press(...keys("down", "enter"));
    expect(refused.effects).toHaveLength(1);
    expect(refused.screen()).toContain("no key");
  });

  describe("a message that begins with the key of a picker", () => {
    const providers = [{ key: "p", title: "provider" }];
    const options = ["ollama", "openai", "explorer"].map((value) => ({ value, label: value }));
    const open = () =>
      new Player({ pickers: providers }).press(...keys("p")).event({ kind: "picker", key: "p", options });

    test("is written on as soon as it can be none of the options", () => {
      const player = open().press(...typed("l"));
      expect(player.ui.overlay?.kind).toBe("picker");
      player.press(...typed("ease"));
      expect([player.ui.overlay, player.ui.editor.text]).toEqual([undefined, "please"]);
    });

    test("is one when a blank follows, whatever the picker takes", () => {
      expect(open().press(...typed("re look")).ui.editor.text).toBe("pre look");
      const model = new Player({ pickers }).press(...keys("m")).event({ kind: "picker", key: "m", options });
      expect(model.press(...typed("ake it so")).ui.editor.text).toBe("make it so");
    });

    test("is one when it comes faster than the list, or as a paste", () => {
      const burst = new Player({ pickers }).blind(...typed("merge"));
      expect([burst.ui.overlay, burst.ui.editor.text]).toEqual([undefined, "merge"]);
      const pasted = new Player({ pickers }).press({ kind: "paste", text: "m" });
      expect([pasted.ui.overlay, pasted.ui.editor.text]).toEqual([undefined, "m"]);
    });

    test("does not come of what is pasted to narrow the list", () => {
      const player = open().press({ kind: "paste", text: "nothing like it" });
      expect(player.ui.overlay?.kind).toBe("picker");
    });
  });
});

test("F1 and ? show every key of the table; ? in a text is a question mark", () => {
  const player = new Player({ size: { columns: 100, rows: 80 } }).press(...keys("?"));
  for (const { summary } of KEYS) expect(player.screen().replace(/\s+/g, " ")).toContain(summary);
  expect(new Player().press(...typed("why?")).ui.overlay).toBeUndefined();
  expect(new Player().press(...typed("why"), ...keys("f1")).ui.overlay?.kind).toBe("help");
});

test("the help can be scrolled no further than to its end", () => {
  const player = new Player().press(...keys("f1", ...Array.from({ length: 60 }, () => "pagedown")));
  const end = player.screen();
  expect(player.press(...keys("up")).screen()).not.toBe(end);
  expect(player.press(...keys("end")).screen()).toBe(end);
});

test("the wheel scrolls the feed and recalls nothing; Alt-M leaves the mouse to the terminal", () => {
  const entries = Array.from({ length: 40 }, (_, at) => textEntry(`entry-${at}`));
  const player = new Player({ view: liveView({ entries }) }).press(...typed("sent"), ...keys("enter"));
  const end = player.screen();
  player.press(...keys("wheelup"));
  expect(player.ui.editor.text).toBe("");
  expect(player.screen()).toContain("↓ End");
  expect(player.press(...keys("wheeldown")).screen()).toBe(end);
  expect(player.press(...keys("alt-m")).effects.at(-1)).toEqual({ kind: "mouse" });
});

test("no key has two meanings in one place", () => {
  const names = KEYS.flatMap(({ keys: chords, where }) => chords.map((chord) => `${where} ${chord}`));
  expect(names).toEqual([...new Set(names)]);
});

test("a lost connection is reported, and position and draft stay", () => {
  const player = new Player().press(...typed("draft")).view({ link: { state: "lost" } });
  expect(player.screen()).toContain("connection lost, reconnecting");
  expect(player.ui.editor.text).toBe("draft");
});

test("whatever is pressed on whatever size, the screen has its size and every row fits", () => {
  const view = liveView({
    entries: [
      textEntry("a", "漢字 and 👩‍👩‍👧 ".repeat(30)),
      toolEntry("t"),
      ...Array.from({ length: 30 }, (_, at) => textEntry(`e${at}`)),
    ],
    requests: [commandRequest("s", "echo 漢字\n\u202e evil"), { ...inputRequest("s"), request_id: "req_2" }],
  });
  const chords = KEYS.flatMap(({ keys: some }) => [...some]).filter((chord) => chord !== "shift-n");
  const press = fc.array(fc.constantFrom(...chords, "x", "漢", "1", "/", "escape"), { maxLength: 15 });
  const sizes = fc.record({
    columns: fc.integer({ min: 20, max: 130 }),
    rows: fc.integer({ min: 4, max: 50 }),
  });
  fc.assert(
    fc.property(press, sizes, sizes, (names, size, later) => {
      const player = new Player({ view, size, commands: [{ name: "/compact", summary: "make it shorter" }] });
      for (const name of names) fits(player.press(...keys(name)), size);
      player.event({ kind: "size", size: later, scale: 1 }).draw();
      fits(player, later);
    }),
    { numRuns: 25 },
  );
});

function fits(player: Player, { columns, rows }: { columns: number; rows: number }): void {
  const frame = player.frame();
  expect(frame.rows.length).toBe(rows);
  for (const row of frame.rows) expect(measureWidth(row)).toBeLessThanOrEqual(columns);
  if (frame.cursor !== undefined) {
    expect(frame.cursor.x).toBeLessThan(columns);
    expect(frame.cursor.y).toBeLessThan(rows);
  }
}
