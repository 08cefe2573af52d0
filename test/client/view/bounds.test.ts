// A view is bounded, and duplicate, odd or numerous inputs change nothing that they should not.
import { describe, expect, test } from "vitest";
import {
  appendOutput,
  appendText,
  limitInput,
  truncate,
  truncateMiddle,
} from "../../../src/client/view/limits.ts";
import { applyInputs, changedEntries, emptyView, findFirstSeq } from "../../../src/client/view.ts";
import { call, delta, ended, inputsOf, notice, result, says, viewOf, withFrames } from "./view-inputs.ts";

describe("too many entries", () => {
  const many = Array.from({ length: 35 }, (_, index) => says(`${index}`, { message_id: `m${index}` }));

  test("the oldest are dropped, in steps, and are counted", () => {
    const view = viewOf(many, { maxEntries: 20 });
    expect(view.entries.length).toBeLessThanOrEqual(20);
    expect(view.dropped + view.entries.length).toBe(35);
    expect(view.entries.at(-1)).toMatchObject({ text: "34" });
    expect(view.entries[0]).toMatchObject({ text: `${view.dropped}` });
  });

  test("loaded history is kept completely, and newer entries push out the oldest only in the end", () => {
    const limits = { maxEntries: 10 };
    const asked = applyInputs(emptyView(), [{ kind: "reset", up_to: 35 }, ...inputsOf(many)], limits);
    expect(asked.entries).toHaveLength(35);
    expect(findFirstSeq(asked)).toBeUndefined();
    const more = (count: number) =>
      Array.from({ length: count }, (_, at) => says("x", { message_id: `x${at}` }));
    expect(applyInputs(asked, inputsOf(more(10), 35), limits).entries).toHaveLength(45);
    const full = applyInputs(asked, inputsOf(more(60), 35), limits);
    expect(full.entries.length).toBeLessThanOrEqual(45);
    expect(full.dropped + full.entries.length).toBe(95);
    expect(findFirstSeq(full)).toBe(full.entries[0]?.seq);
    expect(applyInputs(full, [{ kind: "reset" }, ...inputsOf(many)], limits).entries.length).toBeLessThan(11);
  });

  test("open entries are found in place, and dropped ones are not shown again", () => {
    const limits = { maxEntries: 4 };
    const frames = [
      call("t", "Bash", {}),
      delta("gone", { item_id: "a" }),
      ...many.slice(0, 3),
      delta("x", { item_id: "b" }),
    ];
    const view = applyInputs(
      viewOf(frames, limits),
      inputsOf([says("xy", { message_id: "b" }), says("gone", { message_id: "a" })], frames.length),
      limits,
    );
    expect(view.entries.map((entry) => (entry as { text?: string }).text)).toEqual(["0", "1", "2", "xy"]);
  });
});

describe("too much text", () => {
  test("a text keeps its beginning, an output its beginning and its end", () => {
    expect(truncate("abcdef", 4)).toBe("abcd\n[… truncated …]");
    expect(truncateMiddle("abcdefghi", 6)).toBe("ab\n[… 3 characters omitted …]\nfghi");
    const limits = { maxText: 4, maxOutput: 6 };
    const frames = [
      delta("abc"),
      delta("def"),
      call("t", "Bash", { command: "x" }),
      result("t", "abcdefghi"),
    ];
    expect(viewOf(frames, limits).entries).toMatchObject([
      { text: "abcd\n[… truncated …]" },
      { output: "ab\n[… 3 characters omitted …]\nfghi" },
    ]);
  });

  test("also for output that arrives piece by piece", () => {
    const piece = (text: string) => notice("tool_output", { data: { tool_use_id: "t", text } });
    const pieces = [..."abcdefghi"].map(piece);
    const view = viewOf([call("t", "shell", {}), ...pieces], { maxOutput: 6 });
    expect(view.entries).toMatchObject([{ output: "ab\n[… 3 characters omitted …]\nfghi" }]);
  });

  test("never a lone surrogate, wherever it is cut", () => {
    const text = "a😀b😀c😀d😀e";
    for (let max = 3; max < text.length; max += 1)
      for (let at = 0; at <= text.length; at += 1) {
        const [first, second] = [text.slice(0, at), text.slice(at)];
        const ends = appendOutput(appendOutput("", 0, first, max), first.length, second, max);
        expect(ends).toBe(truncateMiddle(text, max));
        expect(appendText(appendText("", 0, first, max), first.length, second, max)).toBe(
          truncate(text, max),
        );
        expect(`${ends}${truncate(text, max)}`).not.toMatch(/\p{Surrogate}/u);
      }
  });

  test("an input keeps its shape, and is the same object when it is short", () => {
    const short = { a: ["b"], c: 1 };
    expect(limitInput(short, 100)).toBe(short);
    const cut = limitInput({ path: "a", content: "x".repeat(500), more: "y".repeat(500) }, 100);
    expect(cut).toMatchObject({ path: "a", content: expect.stringContaining("characters omitted") });
    expect(JSON.stringify(cut).length).toBeLessThan(300);
  });
});

describe("duplicates", () => {
  test("events that are already in the view change nothing, not even the object", () => {
    const inputs = inputsOf([says("a"), call("t", "Bash", {}), ended()]);
    const view = applyInputs(emptyView(), inputs);
    expect(applyInputs(view, inputs.slice(1))).toBe(view);
    expect(applyInputs(view, [])).toBe(view);
  });

  test("events that were never stored are shown, each with its own id", () => {
    const frame = says("lost");
    const view = applyInputs(viewOf([says("a")]), [
      { kind: "frame", seq: null, frame },
      { kind: "frame", seq: null, frame },
    ]);
    expect(new Set(view.entries.map(({ id }) => id)).size).toBe(3);
    expect(view).toMatchObject({ seq: 1, entries: [{}, { seq: null, text: "lost" }, { seq: null }] });
  });
});

describe("what changed", () => {
  test("an entry that did not change is the same object, and changed ones come with their previous state", () => {
    const before = viewOf([says("a"), call("t", "Bash", {})]);
    const after = withFrames(before, result("t", "x"), says("b"));
    expect(after.entries[0]).toBe(before.entries[0]);
    expect(changedEntries(before, after)).toEqual([
      { entry: after.entries[1], before: before.entries[1] },
      { entry: after.entries[2] },
    ]);
    expect(changedEntries(after, after)).toEqual([]);
  });

  test("a view that was continued stays unchanged", () => {
    const before = viewOf([
      delta("a", { index: 0 }),
      call("t", "Bash", {}),
      notice("input_delivered", { text: "go" }),
    ]);
    const copy = structuredClone(before);
    const goOn = () => withFrames(before, delta("b", { index: 0 }), says("ab"), result("t", "x"), ended());
    const after = goOn();
    expect(before).toEqual(copy);
    expect(goOn()).toEqual(after);
  });

  test("also when the oldest were dropped meanwhile", () => {
    const limits = { maxEntries: 10 };
    const before = viewOf(
      Array.from({ length: 10 }, (_, index) => says(`${index}`)),
      limits,
    );
    const after = applyInputs(before, inputsOf([says("new")], before.seq), limits);
    expect(after.dropped).toBeGreaterThan(0);
    expect(changedEntries(before, after)).toEqual([{ entry: after.entries.at(-1) }]);
  });
});
