// For any frames, the reducer does not throw, and its rows fit into the database and make actions.
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { toActions } from "../../src/observe/actions.ts";
import { EventsDatabase } from "../../src/observe/database.ts";
import { PAYLOAD_BYTES } from "../../src/observe/excerpt.ts";
import { Action } from "../../src/protocol/actions.ts";
import { tempDir } from "./material.ts";
import { Bench } from "./replays.ts";

const anything = fc.anything({ withNullPrototype: false, maxDepth: 3 }).map((value) => plain(value));
const id = fc.constantFrom("a", "b", "c");
const output = fc.oneof(
  fc.constantFrom(
    "interrupted",
    "declined",
    "Exit code 99999999999999",
    "[exit code 1]",
    "command timed out after 3",
  ),
  fc.string({ unit: "binary", maxLength: 4000 }),
  anything,
);
const frame = fc.oneof(
  fc.record(
    {
      type: fc.constant("agent.tool_use"),
      tool_use_id: id,
      name: fc.constantFrom("Bash", "Edit", "apply_patch", "X"),
      input: anything,
    },
    { requiredKeys: ["type"] },
  ),
  fc.record({
    type: fc.constant("agent.tool_use"),
    tool_use_id: id,
    name: anything,
    input: anything,
    index: fc.nat(),
  }),
  fc.record(
    { type: fc.constant("agent.tool_result"), tool_use_id: id, output, is_error: fc.boolean() },
    { requiredKeys: ["type"] },
  ),
  fc.record({
    type: fc.constant("agent.message"),
    content: fc.oneof(
      anything,
      fc.array(
        fc.record({
          type: fc.constantFrom("text", "tool_use"),
          id,
          text: fc.string(),
          name: fc.string(),
          input: anything,
        }),
      ),
    ),
  }),
  fc.record({
    type: fc.constant("agent.notice"),
    category: fc.constantFrom("tool_output", "tool_input", "task_started", "subagent_finished"),
    data: fc.oneof(
      anything,
      fc.record({
        item_id: id,
        text: fc.string(),
        turn_id: fc.string(),
        started_at_ms: fc.double(),
        changes: anything,
      }),
    ),
  }),
  fc.record({
    type: fc.constant("agent.result"),
    subtype: fc.constantFrom("success", "error", "interrupted", "max_turns"),
    turn_id: anything,
    duration_ms: fc.double(),
    cost_usd: fc.double(),
    usage: anything,
    error: fc.oneof(anything, fc.constant({ code: "backend_crashed", message: "x" })),
  }),
  fc.record({
    type: fc.constant("blemeesd.error"),
    code: fc.constantFrom("backend_crashed", "other"),
    message: anything,
  }),
);

test("frames of any shape in any order make rows that can be stored and shown", async () => {
  const path = join(tempDir(), "observability.db");
  const events = await EventsDatabase.open({ path, now: Date.now, onAside: () => undefined });
  onTestFinished(() => events.close());
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 30 }), (frames) => {
      const bench = new Bench("codex");
      for (const one of frames) bench.frame(one);
      expect(events.write(bench.rows)).toEqual({ refused: 0 });
      for (const row of [...bench.tools, ...bench.turns]) {
        expect(Buffer.byteLength(row.raw_payload_json ?? "")).toBeLessThanOrEqual(PAYLOAD_BYTES);
      }
      const rows = bench.rows.filter((row) => row.kind === "tool" || row.kind === "turn");
      for (const action of toActions(rows.reverse(), new Set())) {
        expect(Action.safeParse(action).error).toBeUndefined();
        expect(action.summary_text).not.toMatch(/\n/);
        expect(action.summary_text.length).toBeLessThanOrEqual(160);
      }
    }),
    { numRuns: 300 },
  );
});

/** As parsed from JSON. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "bigint" ? String(inner) : inner,
  );
  return text === undefined ? null : JSON.parse(text);
}
