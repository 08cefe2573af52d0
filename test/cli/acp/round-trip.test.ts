// Frames to updates and back: what an editor is shown is what the backend for ACP agents reads from an agent. Any turn of
// texts, thoughts, calls and plans stays the same.
import fc from "fast-check";
import { expect, test } from "vitest";
import { createUpdateState, toUpdates } from "../../../src/cli/acp/to-updates.ts";
import type { WireFrame } from "../../../src/client/index.ts";
import { eventsOf, play, running, update } from "../../backends/acp/frames.ts";
import { runs } from "../../support/sizes.ts";

type Step =
  | { kind: "text" | "thinking"; pieces: string[] }
  | { kind: "call"; name: string; input: { command: string }; output: string; is_error: boolean }
  | { kind: "plan"; steps: { step: string; status: string }[] };

const words = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== "");
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("text" as const, "thinking" as const),
    pieces: fc.array(words, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant("call" as const),
    name: fc.constantFrom("Bash", "shell", "mcp__server__read"),
    input: fc.record({ command: words }),
    output: words,
    is_error: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("plan" as const),
    steps: fc.array(
      fc.record({ step: words, status: fc.constantFrom("pending", "in_progress", "completed") }),
      { minLength: 1, maxLength: 3 },
    ),
  }),
);

function toFrames(steps: readonly Step[]): object[] {
  const frames = steps.flatMap((one, at): object[] => {
    if (one.kind === "call") {
      const { name, input, output, is_error } = one;
      const tool_use_id = `t${at}`;
      return [
        { type: "agent.tool_use", tool_use_id, name, input },
        { type: "agent.tool_result", tool_use_id, output, is_error },
      ];
    }
    if (one.kind === "plan") return [{ type: "agent.notice", category: "plan", data: { plan: one.steps } }];
    const { kind, pieces } = one;
    const block =
      kind === "text" ? { type: "text", text: pieces.join("") } : { type: kind, thinking: pieces.join("") };
    return [
      ...pieces.map((text) => ({ type: "agent.delta", kind, text, item_id: `m${at}` })),
      { type: "agent.message", role: "assistant", content: [block], message_id: `m${at}` },
    ];
  });
  return [...frames, { type: "agent.result", subtype: "success" }];
}

/** What a person sees of a turn: texts and calls in order, and the plans, which are apart. */
function show(frames: readonly object[]): { said: unknown[]; plans: unknown[] } {
  const said: unknown[] = [];
  const plans: unknown[] = [];
  for (const frame of frames) {
    const { type, ...one } = frame as Record<string, unknown> & { type: string };
    if (type === "agent.message") said.push(one["content"]);
    if (type === "agent.tool_use") said.push(["use", one["tool_use_id"], one["name"], one["input"]]);
    if (type === "agent.tool_result")
      said.push(["result", one["tool_use_id"], one["output"], one["is_error"] === true]);
    if (type !== "agent.notice" || one["category"] !== "plan") continue;
    const { plan } = one["data"] as { plan: Record<string, unknown>[] };
    plans.push(plan.map((entry) => [entry["step"], entry["status"]]));
  }
  return { said, plans };
}

test("a turn is the same after both translations", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const frames = toFrames(steps);
      const state = createUpdateState("/p");
      const updates = frames.flatMap((frame) => toUpdates(state, frame as WireFrame));
      const back = play(running({}), [
        ...updates.map((one) => update(one as never)),
        { kind: "answer", answer: { result: { stopReason: "end_turn" } } },
      ]);
      expect(show(eventsOf(back))).toEqual(show(frames));
    }),
    runs(300),
  );
});
