// Frames in shapes that no backend makes: nothing throws, and nothing that is drawn has a wrong type.
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatEntry } from "../../../src/cli/entry-lines.ts";
import type { Entry, ViewInput } from "../../../src/client/view/types.ts";
import { applyInputs, changedEntries, emptyView } from "../../../src/client/view.ts";
import { runs } from "../../support/sizes.ts";
import type { Frame } from "./view-inputs.ts";

const TYPES = [
  "agent.system_init",
  "agent.delta",
  "agent.message",
  "agent.user_echo",
  "agent.tool_use",
  "agent.tool_result",
  "agent.notice",
  "agent.result",
  "blemeesd.stderr",
  "blemeesd.error",
  "blemeesd.replay_gap",
  "blemeesd.catching_up",
  "blemeesd.session_closed",
  "client.message_lost",
  "__proto__",
  "constructor",
];
const KEYS = [
  "kind",
  "text",
  "partial_json",
  "index",
  "item_id",
  "parent_tool_use_id",
  "content",
  "message",
  "message_id",
  "tool_use_id",
  "name",
  "input",
  "output",
  "is_error",
  "level",
  "category",
  "data",
  "subtype",
  "usage",
  "error",
  "line",
  "code",
  "reason",
  "last_seq",
];
const VALUES = [
  "text",
  "thinking",
  "tool_input",
  "t1",
  "info",
  "task_started",
  "input_delivered",
  "tool_progress",
];
const CATEGORIES = ["request_pending", "request_resolved", "tool_output", "tool_input", "tool_input"];

const word = fc.constantFrom(...VALUES, ...CATEGORIES, "__proto__", "toString", "");
const poison = fc.constantFrom<unknown>(
  JSON.parse('{"__proto__":{"polluted":1},"toString":1,"valueOf":1}'),
  JSON.parse(
    '{"request":{"request_id":"r","status":"pending","payload":{"title":"x","choices":[{}],"changes":[{}]}}}',
  ),
  { tool_use_id: "t1", item_id: "t1", text: 1, changes: [{ path: 1 }], content: [null], input: null },
  [
    { type: "tool_use", id: "t1" },
    { type: "text" },
    null,
    1,
    { type: 1 },
    { type: "tool_result", tool_use_id: "t1" },
  ],
  Number.NaN,
  -1,
  1e300,
  null,
);
const value = fc.oneof(word, fc.jsonValue({ maxDepth: 3 }), poison);
const frame = fc
  .tuple(fc.constantFrom(...TYPES), fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 10 }))
  .map(([type, fields]) => ({ ...fields, type }) as Frame);
const inputs = fc.array(
  fc
    .tuple(frame, fc.oneof(fc.constant(null), fc.nat(100)), value)
    .map(([made, seq, at]) => ({ kind: "frame", seq, frame: made, at_ms: at }) as ViewInput),
  { maxLength: 30 },
);

test("no frame makes it throw, nothing that is drawn has a wrong type, and no prototype is touched", () => {
  fc.assert(
    fc.property(inputs, (items) => {
      let view = emptyView();
      for (const item of items) {
        const next = applyInputs(view, [item], { maxEntries: 10, maxText: 50, maxOutput: 50 });
        // Drawing it must not throw either.
        for (const change of changedEntries(view, next)) formatEntry(change, 80);
        view = next;
      }
      for (const entry of view.entries) expectDrawable(entry);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    }),
    runs(400),
  );
});

const TEXTS: Record<Entry["kind"], readonly string[]> = {
  user: ["text"],
  text: ["text"],
  thinking: ["text"],
  tool: ["tool_use_id", "name", "title", "status"],
  request: [],
  notice: ["level", "category", "text"],
  result: ["subtype"],
  gap: ["text"],
};
const MAYBE_TEXTS = ["parent", "from", "partialInput", "output", "agent", "error"];
const MAYBE_NUMBERS = ["at_ms", "ended_at_ms", "exit_code", "duration_ms", "cost_usd", "attachments"];

function expectDrawable(entry: Entry): void {
  const fields = entry as unknown as Record<string, unknown>;
  for (const key of ["id", ...TEXTS[entry.kind]]) expect([key, typeof fields[key]]).toEqual([key, "string"]);
  for (const key of MAYBE_TEXTS)
    if (key in fields) expect([key, typeof fields[key]]).toEqual([key, "string"]);
  for (const key of MAYBE_NUMBERS)
    if (key in fields) expect([key, Number.isFinite(fields[key])]).toEqual([key, true]);
  expect(Number.isInteger(entry.depth)).toBe(true);
}

test("an input of an unknown kind changes nothing", () => {
  const view = emptyView();
  for (const kind of ["unheard_of", "__proto__", "toString"])
    expect(applyInputs(view, [{ kind } as unknown as ViewInput])).toBe(view);
});
