import { describe, expect, test } from "vitest";
import { keys, liveView, Player, textEntry, toolEntry, typed } from "../support/ui.ts";

const MANY = Array.from({ length: 100 }, (_, at) => textEntry(`entry-${at}.`));

function feed(player: Player): string[] {
  return player.frame().rows.slice(2, 2 + player.frame().feedHeight);
}

describe("the feed", () => {
  test("follows the end", () => {
    const player = new Player({ view: liveView({ entries: MANY }) });
    expect(player.screen()).toContain("entry-99.");
    player.view({ entries: [...MANY, textEntry("newest")] });
    expect(player.screen()).toContain("newest");
  });

  test("does not move while events arrive, and counts them", () => {
    const player = new Player({ view: liveView({ entries: MANY }) }).press(...keys("pageup"));
    const before = feed(player);
    player.view({ entries: [...MANY, ...Array.from({ length: 12 }, (_, at) => textEntry(`new-${at}`))] });
    expect(feed(player)).toEqual(before);
    expect(player.screen()).toContain("↓ 12 new");
    expect(player.press(...keys("end")).screen()).toContain("new-11");
  });

  test("does not move when the oldest entries are dropped", () => {
    const player = new Player({ view: liveView({ entries: MANY }) }).press(...keys("pageup", "pageup"));
    const before = feed(player);
    player.view({ entries: MANY.slice(30), dropped: 30 });
    expect(feed(player)).toEqual(before);
  });

  test("a page up and a page down come back to the end", () => {
    const player = new Player({ view: liveView({ entries: MANY }) }).press(...keys("pageup", "pagedown"));
    expect(player.ui.feed.anchor).toBeUndefined();
  });

  test("at the top the key requests earlier entries, once", () => {
    const player = new Player({ view: liveView({ entries: MANY }) }).press(...keys("home", "home", "home"));
    expect(player.effects).toEqual([{ kind: "earlier" }]);
    player.event({ kind: "earlier", isMore: false, at_ms: player.now_ms });
    expect(player.screen()).toContain("no earlier events");
  });

  test("another width keeps the entry at the top", () => {
    const long = textEntry("long", Array.from({ length: 400 }, (_, at) => `w${at}`).join(" "));
    const player = new Player({
      view: liveView({ entries: [...MANY, long, ...MANY.map(({ id }) => textEntry(`z${id}`))] }),
    });
    player.press(...keys("home"));
    player.event({ kind: "view", view: player.ui.view, at_ms: player.now_ms });
    player.event({ kind: "size", size: { columns: 40, rows: 24 }, scale: 2 }).draw();
    expect(feed(player)[0]).toContain("entry-0.");
  });
});

describe("folding", () => {
  const view = liveView({ entries: [textEntry("a"), toolEntry("t1"), textEntry("b"), toolEntry("t2")] });

  test("Tab marks the lowest, and again unfolds it; Enter folds it", () => {
    const player = new Player({ view }).press(...keys("tab", "tab"));
    expect(player.ui.feed).toMatchObject({ focus: "t2", turned: new Set(["t2"]) });
    expect(player.screen()).toContain("HIDDEN-OUTPUT");
    expect(player.press(...keys("enter")).screen()).not.toContain("HIDDEN-OUTPUT");
  });

  test("the mark moves over what can be unfolded", () => {
    expect(new Player({ view }).press(...keys("tab", "alt-up")).ui.feed.focus).toBe("t1");
  });

  test("Ctrl-O unfolds all, and folds all", () => {
    const player = new Player({ view }).press(...keys("ctrl-o"));
    expect(player.screen().match(/HIDDEN-OUTPUT/g)).toHaveLength(2);
    expect(player.press(...keys("ctrl-o")).screen()).not.toContain("HIDDEN-OUTPUT");
  });

  test("Enter with something written sends it, whatever is marked", () => {
    const player = new Player({ view }).press(...keys("tab"), ...typed("x"), ...keys("enter"));
    expect(player.effects).toEqual([{ kind: "send", text: "x", how: "queue" }]);
  });
});

describe("search", () => {
  const view = liveView({ entries: MANY });

  test("finds upwards from the end, and n and N continue", () => {
    const player = new Player({ view }).press(...keys("ctrl-f"), ...typed("entry-1"), ...keys("enter"));
    expect(found(player)).toContain("entry-19.");
    expect(found(player.press(...keys("shift-n")))).toContain("entry-18.");
    expect(found(player.press(...keys("n")))).toContain("entry-19.");
  });

  test("reports no match, and Esc leaves the draft unchanged", () => {
    const player = new Player({ view }).press(...typed("draft"), ...keys("ctrl-f"), ...typed("nowhere"));
    expect(player.screen()).toContain("not found");
    player.press(...keys("escape"));
    expect(player.ui.overlay).toBeUndefined();
    expect(player.ui.editor.text).toBe("draft");
  });

  function found(player: Player): string {
    return (
      player
        .screen()
        .split("\n")
        .find((row) => row.startsWith("»")) ?? ""
    );
  }
});
