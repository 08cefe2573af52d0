// The agent's text and thinking, from pieces and from complete messages.
import { describe, expect, test } from "vitest";
import {
  call,
  contentOf,
  delta,
  ended,
  message,
  result,
  says,
  thought,
  viewOf,
  withFrames,
} from "./view-inputs.ts";

const texts = (...frames: Parameters<typeof viewOf>[0]) =>
  contentOf(viewOf(frames).entries).map(
    (entry) => entry as { kind: string; text?: string; isOpen?: boolean },
  );
const said = (text: string, isOpen = false) => ({ kind: "text", depth: 0, text, isOpen });

describe("pieces", () => {
  test("grow one open entry, and the complete message corrects it without showing it twice", () => {
    const open = viewOf([delta("Hel", { index: 0 }), delta("lo", { index: 0 })]);
    expect(open.entries).toEqual([
      { id: "1", seq: 1, at_ms: 10, depth: 0, kind: "text", text: "Hello", isOpen: true },
    ]);
    const whole = withFrames(open, says("Hello.", { message_id: "m1" }));
    expect(whole.entries).toEqual([{ ...open.entries[0], text: "Hello.", isOpen: false }]);
  });

  test("are distinguished by their item, also when interleaved", () => {
    const a = { item_id: "a" };
    const b = { item_id: "b" };
    const frames = [delta("a1", a), delta("b1", b), delta("a2", a), delta("b2", b)];
    expect(texts(...frames).map(({ text }) => text)).toEqual(["a1a2", "b1b2"]);
    const whole = texts(...frames, says("B", { message_id: "b" }), says("A", { message_id: "a" }));
    expect(whole).toEqual([said("A"), said("B")]);
  });

  test("of the same index after a message or a result are another text", () => {
    const frames = [delta("one", { index: 0 }), says("one"), delta("two", { index: 0 })];
    expect(texts(...frames)).toEqual([said("one"), said("two", true)]);
    const tool = [call("t", "Bash", { command: "ls" }), result("t", "x")];
    const behind = texts(delta("one", { index: 0 }), ...tool, delta("two", { index: 0 }));
    expect(behind.map(({ text }) => text)).toEqual(["one", undefined, "two"]);
  });

  test("that no message follows are closed by the end of the turn", () => {
    expect(texts(delta("cut o", { index: 0 }), ended({ subtype: "interrupted" }))[0]).toEqual(said("cut o"));
    expect(texts(delta("a"), ended(), delta("b")).map(({ text }) => text)).toEqual(["a", undefined, "b"]);
  });

  test("that an agent begins again after an error are replaced by the new text", () => {
    const frames = [delta("Hel", { index: 0 }), delta("Hello", { index: 0 }), says("Hello")];
    expect(texts(...frames)).toEqual([said("Hello")]);
  });

  test("that are blank are not shown, and become part of the next text", () => {
    expect(texts(delta("\n"), delta("\n"))).toEqual([]);
    expect(texts(delta("\n"), delta("x"))).toEqual([said("\nx", true)]);
    expect(texts(delta("\n"), says("\n"), says(" "))).toEqual([]);
  });
});

describe("thoughts", () => {
  test("end when something else begins, with its time", () => {
    const { entries } = viewOf([thought("Hm.", { item_id: "r" }), delta("So", { item_id: "m" })]);
    expect(entries[0]).toMatchObject({ kind: "thinking", isOpen: false, at_ms: 10, ended_at_ms: 20 });
    expect(entries[1]).toMatchObject({ kind: "text", isOpen: true });
  });

  test("of several parts are one entry with a blank line between", () => {
    const part = (text: string, index: number) => thought(text, { item_id: "r", index });
    expect(texts(part("A", 0), part("a", 0), part("B", 1))).toMatchObject([{ text: "Aa\n\nB" }]);
  });

  test("and text of one message are corrected block by block", () => {
    const blocks = [
      { type: "thinking", thinking: "hmm" },
      { type: "text", text: "yes" },
    ];
    const frames = [thought("hm", { index: 0 }), delta("ye", { index: 1 }), message(blocks)];
    expect(texts(...frames)).toEqual([{ ...said("hmm"), kind: "thinking" }, said("yes")]);
  });

  test("whose complete text is hidden keep what was streamed", () => {
    const whole = message([{ type: "thinking", thinking: "", signature: "s" }]);
    expect(texts(thought("hm", { index: 0 }), whole)).toEqual([{ ...said("hm"), kind: "thinking" }]);
  });
});

describe("a message without pieces", () => {
  test("is shown completely, each of its blocks", () => {
    const blocks = [
      { type: "text", text: "one" },
      { type: "image", source: {} },
      { type: "redacted_thinking", data: "x" },
      { type: "questions", questions: [{ question: "Which?" }] },
    ];
    expect(texts(message(blocks))).toEqual([said("one"), said("[image]"), said("? Which?")]);
  });

  test("of another item does not affect the text being written", () => {
    const frames = [
      delta("writ", { item_id: "a" }),
      says("other", { message_id: "b" }),
      delta("ing", { item_id: "a" }),
    ];
    expect(texts(...frames)).toEqual([said("writing", true), said("other")]);
  });
});

describe("sub-agents", () => {
  test("have their own texts, with the same indexes as the agent's", () => {
    const below = { index: 0, parent_tool_use_id: "t" };
    const frames = [
      call("t", "Agent", { subagent_type: "explorer" }),
      delta("own", { index: 0 }),
      delta("sub", below),
      says("sub!", { parent_tool_use_id: "t" }),
      says("own!"),
    ];
    expect(texts(...frames).slice(1)).toEqual([said("own!"), { ...said("sub!"), parent: "t", depth: 1 }]);
  });

  test("do not end the text of another one when they begin", () => {
    const { entries } = viewOf([delta("own"), thought("sub", { parent_tool_use_id: "t" })]);
    expect(entries).toMatchObject([{ isOpen: true }, { isOpen: true }]);
  });

  test("are as deep as the calls that started them, also when a call is unknown", () => {
    const frames = [
      call("t1", "Agent", {}),
      call("t2", "Agent", {}, { parent_tool_use_id: "t1" }),
      call("t3", "Agent", {}, { parent_tool_use_id: "t2" }),
      says("deep", { parent_tool_use_id: "t3" }),
      says("lost", { parent_tool_use_id: "unheard-of" }),
    ];
    expect(viewOf(frames).entries.map(({ depth }) => depth)).toEqual([0, 1, 2, 3, 1]);
  });

  test("are complete when the call that started them ends", () => {
    const below = { parent_tool_use_id: "t" };
    const { entries } = viewOf([call("t", "Task", {}), delta("sub", below), delta("own"), result("t", "ok")]);
    expect(entries).toMatchObject([{ status: "done" }, { text: "sub", isOpen: false }, { text: "own" }]);
  });
});
