// The invariants of the view, over the recorded streams of all backends and over arbitrary streams.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { View, ViewInput } from "../../../src/client/view/types.ts";
import { applyInputs, emptyView, type Limits } from "../../../src/client/view.ts";
import { IS_CHAOS, runs } from "../../support/sizes.ts";
import { noticeOf, pending, resolved } from "../request-rows.ts";
import {
  call,
  contentOf,
  delta,
  ended,
  type Frame,
  inputsOf,
  message,
  notice,
  recordedStreams,
  result,
  says,
  TICK_MS,
  thought,
} from "./view-inputs.ts";

const RECORDED = recordedStreams();

/** Small, so that dropping and cutting happen too. */
const LIMITS: Limits = { maxEntries: 12, maxText: 40, maxOutput: 30 };

const text = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("Hello ", "\n", "😀", "a\nb"));
const id = fc.constantFrom("t1", "t2", "t3");
const from = fc.option(fc.record({ parent_tool_use_id: id }), { nil: {} });
const place = fc.oneof(
  fc.record({ index: fc.nat(2) }),
  fc.record({ item_id: fc.constantFrom("m1", "m2") }),
  fc.record({ item_id: fc.constantFrom("m1", "m2"), index: fc.nat(1) }),
  fc.constant({}),
);
const named = fc.option(fc.record({ message_id: fc.constantFrom("m1", "m2") }), { nil: {} });
const input = fc.constantFrom({}, { command: "ls" }, { file_path: "/a", old_string: "x", new_string: "y" });
const row = fc
  .record({ request_id: fc.constantFrom("r1", "r2"), item_id: id, requested_at_ms: fc.nat(9) })
  .map((fields) => pending(fields));

const frame: fc.Arbitrary<Frame> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(text, place, from).map(([t, p, f]) => delta(t, { ...p, ...f })) },
  { weight: 2, arbitrary: fc.tuple(text, place, from).map(([t, p, f]) => thought(t, { ...p, ...f })) },
  {
    weight: 1,
    arbitrary: fc.tuple(text, place, from).map(
      ([partial_json, p, f]): Frame => ({
        type: "agent.delta",
        kind: "tool_input",
        partial_json,
        ...p,
        ...f,
      }),
    ),
  },
  { weight: 3, arbitrary: fc.tuple(text, named, from).map(([t, n, f]) => says(t, { ...n, ...f })) },
  {
    weight: 1,
    arbitrary: fc.tuple(text, text, id, input, from).map(([a, b, t, i, f]) =>
      message(
        [
          { type: "thinking", thinking: a },
          { type: "text", text: b },
          { type: "tool_use", id: t, name: "Bash", input: i },
        ],
        f,
      ),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(id, input, place, from).map(([t, i, p, f]) => call(t, "Edit", i, { ...p, ...f })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(id, text, fc.boolean(), from)
      .map(([t, o, is_error, f]) => result(t, o, { is_error, ...f })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(id, text)
      .map(([item_id, t]) => notice("tool_output", { data: { item_id, text: t } })),
  },
  { weight: 1, arbitrary: row.map((asked) => noticeOf(asked, 1) as Frame) },
  { weight: 1, arbitrary: row.map((asked) => noticeOf(resolved(asked), 1) as Frame) },
  { weight: 1, arbitrary: text.map((t) => notice("input_delivered", { text: t })) },
  {
    weight: 1,
    arbitrary: text.map(
      (content): Frame => ({ type: "agent.user_echo", message: { role: "user", content } }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ended(),
      ended({ subtype: "error", error: { message: "x" } }),
      notice("task_started"),
    ),
  },
  { weight: 1, arbitrary: text.map((t) => notice("told", { level: "warn", text: t })) },
);

const other: fc.Arbitrary<ViewInput> = fc.oneof(
  row.map((asked): ViewInput => ({ kind: "requests", requests: [asked] })),
  fc.constantFrom<ViewInput>(
    { kind: "requests", requests: [] },
    { kind: "gap", data: { since_seq: 1, first_available_seq: 4 } },
    { kind: "catching_up", data: { last_seq: 30 } },
    { kind: "closed", data: { reason: "gone" } },
    { kind: "link", state: "lost" },
    { kind: "local", level: "info", text: "ours" },
    { kind: "reset" },
    { kind: "frame", seq: null, frame: says("unstored") },
  ),
);

/** Frames numbered in order, and between them everything else. */
const inputs: fc.Arbitrary<ViewInput[]> = fc
  .array(fc.oneof({ weight: 6, arbitrary: frame }, { weight: 1, arbitrary: other }), { maxLength: 60 })
  .map((items) => {
    let seq = 0;
    return items.map((item) => {
      if ("kind" in item && !("type" in item)) return item as ViewInput;
      seq += 1;
      return { kind: "frame", seq, frame: item as Frame, at_ms: seq * TICK_MS } satisfies ViewInput;
    });
  });

const cuts = fc.array(fc.nat(60), { maxLength: 8 });

function inBatches(items: readonly ViewInput[], at: readonly number[], limits?: Partial<Limits>): View {
  const ends = [...new Set([...at.map((cut) => cut % (items.length + 1)), items.length])].sort(
    (a, b) => a - b,
  );
  let [view, start] = [emptyView(), 0];
  for (const end of ends) {
    view = applyInputs(view, items.slice(start, end), limits);
    start = end;
  }
  return view;
}

describe("however the inputs are cut into batches, the view is the same", () => {
  test("of any stream, also when much is dropped and cut", () => {
    fc.assert(
      fc.property(inputs, cuts, fc.constantFrom(LIMITS, undefined), (items, at, limits) => {
        const whole = applyInputs(emptyView(), items, limits);
        expect(inBatches(items, at, limits)).toEqual(whole);
      }),
      runs(150),
    );
  });

  test.each(RECORDED)("of $name: any beginning, then the rest", ({ frames }) => {
    const items = inputsOf(frames);
    const whole = applyInputs(emptyView(), items);
    const steps = Math.max(1, Math.floor(items.length / (IS_CHAOS ? 100 : 4)));
    for (let at = 0; at <= items.length; at += steps)
      expect(applyInputs(applyInputs(emptyView(), items.slice(0, at)), items.slice(at))).toEqual(whole);
    expect(items.reduce((view, item) => applyInputs(view, [item]), emptyView())).toEqual(whole);
  });
});

describe("events that were already seen change nothing", () => {
  test("of any stream", () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 40 }), fc.nat(40), (frames, at) => {
        const items = inputsOf(frames);
        const view = applyInputs(emptyView(), items, LIMITS);
        expect(applyInputs(view, items.slice(at), LIMITS)).toBe(view);
        const begun = applyInputs(emptyView(), items.slice(0, at), LIMITS);
        // As after a reconnect: some of it again, then what follows.
        expect(applyInputs(begun, items.slice(Math.max(0, at - 5)), LIMITS)).toEqual(view);
      }),
      runs(100),
    );
  });

  test.each(RECORDED)("of $name", ({ frames }) => {
    const items = inputsOf(frames);
    const view = applyInputs(emptyView(), items);
    expect(applyInputs(view, items.slice(Math.floor(items.length / 2)))).toBe(view);
    expect(applyInputs(applyInputs(view, [{ kind: "reset" }]), items)).toEqual(view);
  });
});

/** The same texts, split elsewhere: neighbours of one block are joined, then split at other places. */
function recut(frames: readonly Frame[], widths: readonly number[]): Frame[] {
  const joined: Frame[] = [];
  for (const next of frames) {
    const last = joined.at(-1);
    if (last !== undefined && next.type === "agent.delta" && blockOf(last) === blockOf(next))
      joined[joined.length - 1] = { ...last, ...textOf(last, whole(last) + whole(next)) };
    else joined.push(next);
  }
  let turn = 0;
  return joined.flatMap((next) => {
    if (next.type !== "agent.delta") return [next];
    const pieces: Frame[] = [];
    for (let rest = whole(next); rest !== ""; ) {
      const width = widths[turn % Math.max(1, widths.length)] ?? 3;
      turn += 1;
      pieces.push({ ...next, ...textOf(next, rest.slice(0, width)) });
      rest = rest.slice(width);
    }
    return pieces;
  });
}

const whole = (next: Frame): string => String(next["text"] ?? next["partial_json"] ?? "");
const textOf = (next: Frame, value: string) =>
  "partial_json" in next ? { partial_json: value } : { text: value };
const blockOf = ({ type, text: _text, partial_json: _json, ...rest }: Frame): string =>
  type === "agent.delta" ? JSON.stringify(rest) : "";

describe("wherever a text is split, the entries are the same", () => {
  const widths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
  const entriesOf = (frames: readonly Frame[], limits?: Partial<Limits>) =>
    contentOf(applyInputs(emptyView(), inputsOf(frames), limits).entries);

  test("of any stream", () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 40 }), widths, (frames, cut) => {
        expect(entriesOf(recut(frames, cut), LIMITS)).toEqual(entriesOf(frames, LIMITS));
      }),
      runs(150),
    );
  });

  test.each(RECORDED)("of $name", ({ frames }) => {
    const expected = entriesOf(frames);
    for (const cut of [[1], [7, 2], [1000]]) expect(entriesOf(recut(frames, cut))).toEqual(expected);
  });
});

describe("every recorded stream", () => {
  test.each(RECORDED)("$name: ids are unique, and a turn that ended left nothing open", ({ frames }) => {
    const { entries, turn } = applyInputs(emptyView(), inputsOf(frames));
    expect(new Set(entries.map(({ id: own }) => own)).size).toBe(entries.length);
    const hasEnded = frames.at(-1)?.type === "agent.result";
    const open = entries.filter(
      (entry) => ("isOpen" in entry && entry.isOpen) || (entry.kind === "tool" && entry.status === "running"),
    );
    if (hasEnded) expect({ open, turn }).toEqual({ open: [], turn: undefined });
  });

  test.each(RECORDED)("$name: each text of a message is shown once, and each call", ({ frames }) => {
    const { entries } = applyInputs(emptyView(), inputsOf(frames));
    const said = frames
      .filter(({ type }) => type === "agent.message")
      .flatMap(({ content }) => content as { type: string; text?: string }[])
      .flatMap(({ type, text: t = "" }) => (type === "text" && t.trim() !== "" ? [t] : []));
    const shown = entries.flatMap((entry) => (entry.kind === "text" ? [entry.text] : []));
    expect(shown.filter((t) => said.includes(t)).sort()).toEqual([...said].sort());
    const calls = frames
      .filter(({ type }) => type === "agent.tool_use")
      .map(({ tool_use_id }) => tool_use_id);
    expect(entries.flatMap((entry) => (entry.kind === "tool" ? [entry.tool_use_id] : [])).sort()).toEqual(
      calls.sort(),
    );
  });
});
