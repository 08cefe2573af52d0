// What keys do in the inbox.
import { describe, expect, test } from "vitest";
import { aRequest, InboxPlayer } from "./inbox-world.ts";

const A = aRequest("a", { command: "ls a" });
const B = aRequest("b", { command: "ls b" });
const C = aRequest("c", { command: "ls c" });
const ACCEPT = { decision: "accept" };

/** The session of the open item. */
function open({ inbox }: InboxPlayer): string | undefined {
  return inbox.ui.focus?.replace("req_", "");
}

describe("from one request to the next", () => {
  test("the oldest is open, and each answer opens the next one, until nothing is pending", () => {
    const player = new InboxPlayer([A, B, C]);
    expect(player.press("y", "y", "y").answers).toEqual([
      ["a", ACCEPT],
      ["b", ACCEPT],
      ["c", ACCEPT],
    ]);
    expect(player.screen()).toContain("No pending requests");
  });

  test("after the one that the user went to comes the one below it, and after the last the first", () => {
    const player = new InboxPlayer([A, B, C]).press("j", "y");
    expect(open(player)).toBe("c");
    expect(open(player.press("y"))).toBe("a");
  });

  test.each([
    ["j", "k"],
    ["tab", "shift-tab"],
    ["ctrl-n", "ctrl-p"],
  ])("%s is the next one, %s the previous", (next, previous) => {
    const player = new InboxPlayer([A, B, C]);
    expect(open(player.press(next))).toBe("b");
    expect(open(player.press(previous, previous))).toBe("c");
  });

  test("it opens at the request that it was opened for, also if that is one of several identical ones", () => {
    const same = aRequest("d", { command: "ls b" });
    expect(open(new InboxPlayer([A, B, same], { first: "req_d" }))).toBe("b");
  });

  test("one that was answered elsewhere gives its place to the next, and a key in that second is not for it", () => {
    const player = new InboxPlayer([A, B, C]).press("j").requests(A, C).draw();
    expect(open(player)).toBe("c");
    expect(player.screen()).toContain("request closed: no longer pending");
    expect(player.blind("y").answers).toEqual([]);
    expect(player.press("y").answers).toEqual([["c", ACCEPT]]);
  });

  test("a request that arrives does not take the place of the open one", () => {
    const player = new InboxPlayer([B]).requests(A, B).draw();
    expect(open(player)).toBe("b");
    expect(player.press("y").answers).toEqual([["b", ACCEPT]]);
  });
});

describe("identical requests", () => {
  const KIDS = ["kid-1", "kid-2", "kid-3"].map((name) => aRequest(name));

  test("are one card with all names, and one key answers each as it was shown", () => {
    const player = new InboxPlayer([A, ...KIDS]).press("j");
    expect(player.screen()).toMatch(/kid-1 \+2 +shop +run npm test/);
    expect(player.screen()).toContain("kid-1 (claude) in shop and 2 others ask to run a command:");
    const [effect] = player.press("y").effects;
    expect(effect).toEqual({ kind: "answer", item: { requests: KIDS }, answer: ACCEPT });
    expect(open(player)).toBe("a");
  });

  test("one that joined since the card was drawn is not answered with it", () => {
    const [first, second, third] = KIDS;
    if (first === undefined || second === undefined || third === undefined) throw new Error("no kids");
    const player = new InboxPlayer([first, second]).press("d").requests(...KIDS);
    expect(player.blind("y").answers).toEqual([["kid-1 kid-2", ACCEPT]]);
    expect(open(player)).toBe("kid-3");
  });

  test("those whose answer did not arrive are pending again", () => {
    const player = new InboxPlayer(KIDS).press("y");
    expect(open(player)).toBeUndefined();
    player.event({ kind: "not_answered", requests: KIDS.slice(1, 2), at_ms: player.now_ms });
    expect(open(player)).toBe("kid-2");
    expect(player.requests().requests(...KIDS).inbox.items).toHaveLength(1);
  });
});

describe("a key answers only what was read", () => {
  test("not in the same burst as the key that opened it", () => {
    const player = new InboxPlayer([A, B]);
    expect(player.blind("j").blind("y").answers).toEqual([]);
  });

  test("a held key answers once", () => {
    const player = new InboxPlayer([A, B, C]).press("y");
    for (let at = 0; at < 60; at += 1) {
      player.now_ms += 33;
      player.blind("y").draw();
    }
    expect(player.answers).toEqual([["a", ACCEPT]]);
  });

  test("not one that changed since: it is to be read again", () => {
    const player = new InboxPlayer([A]);
    player.requests({ ...A, shown_hash: "other", payload: { ...A.payload, command: "rm -rf /" } });
    expect(player.blind("y").answers).toEqual([]);
    expect(player.draw().screen()).toContain("rm -rf /");
  });

  test("a truncated one is loaded first", () => {
    const cut = { ...A, is_cut: true as const };
    const player = new InboxPlayer([cut]);
    expect(player.effects).toEqual([{ kind: "whole", row: cut }]);
    expect(player.press("y").answers).toEqual([]);
    player.event({ kind: "whole", row: A }).draw();
    expect(player.press("y").answers).toEqual([["a", ACCEPT]]);
  });

  test("a paste is never a key", () => {
    const player = new InboxPlayer([A]);
    player.now_ms += 1_000;
    player.event({ kind: "input", input: { kind: "paste", text: "y" }, at_ms: player.now_ms });
    expect(player.effects).toEqual([]);
  });
});

describe("other keys", () => {
  test("where a reason is written, letters are text and Esc closes only the field", () => {
    const player = new InboxPlayer([A, B]).press("n", ..."oq?j", "escape");
    expect(player.effects).toEqual([]);
    expect(open(player)).toBe("a");
    player.press("n", ..."jq", "enter");
    expect(player.answers).toEqual([["a", { decision: "decline", message: "jq" }]]);
  });

  test("questions are answered in place, with options by number", () => {
    const questions = [{ id: "q", question: "Which?", options: [{ label: "Red" }, { label: "Blue" }] }];
    const asks = aRequest("a", { questions }, { request_type: "user_input" });
    expect(new InboxPlayer([asks, B]).press("2").answers).toEqual([["a", { answers: { q: "Blue" } }]]);
  });

  test.each(["escape", "q", "ctrl-c"])("%s goes back to the list and answers nothing", (key) => {
    expect(new InboxPlayer([A]).press(key).effects).toEqual([{ kind: "back" }]);
  });

  test("o opens the session that asks", () => {
    expect(new InboxPlayer([A, B]).press("j", "o").effects).toEqual([{ kind: "open", session_id: "b" }]);
  });

  test("keys of the session screen that mean nothing here do nothing", () => {
    const player = new InboxPlayer([A]).press("ctrl-f", "f4", "alt-m", "ctrl-home", "pageup", "x");
    expect(player.effects).toEqual([]);
    expect(player.press("y").answers).toEqual([["a", ACCEPT]]);
  });

  test("in an empty inbox a key does nothing but leave", () => {
    const player = new InboxPlayer([]).press("y", "n", "enter", "j", "o", "d");
    expect(player.effects).toEqual([]);
    expect(player.press("escape").effects).toEqual([{ kind: "back" }]);
  });
});
