// Agents below agents, in any order: a client sees exactly what each of them did, and nothing of another.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Outgoing } from "../../../src/runtime/acp/outbound.ts";
import { Translator } from "../../../src/runtime/acp/translate.ts";
import type { EventBody, InvocationFields, RuntimeEvent } from "../../../src/runtime/events.ts";
import { ToolRegistry } from "../../../src/runtime/tools/registry.ts";

type Who = "main" | "child" | "deep";

const WHO: Record<Who, InvocationFields> = {
  main: { invocationId: "main" },
  child: { invocationId: "inv_1", parentCallId: "d1", agentPath: ["a"] },
  deep: { invocationId: "inv_2", parentCallId: "d2", agentPath: ["a", "b"] },
};

const who = fc.constantFrom<Who>("main", "child", "deep");
const text = fc.string({ minLength: 1, maxLength: 6, unit: "grapheme" });
const callId = fc.constantFrom("c1", "c2", "c3");
const body = fc.oneof(
  text.map((words): EventBody => ({ type: "model.text.delta", text: words })),
  text.map((words): EventBody => ({ type: "model.reasoning.delta", text: words })),
  fc.constant<EventBody>({ type: "model.text", text: "", final: false }),
  fc.constant<EventBody>({
    type: "model.request",
    turn: 1,
    provider: "p",
    model: "m",
    messages: 1,
    tools: 0,
    stream: true,
  }),
  callId.map((id): EventBody => ({ type: "tool.started", callId: id, name: "bash", input: {}, title: "t" })),
  callId.map((id): EventBody => ({ type: "tool.output", callId: id, text: "o" })),
  callId.map(
    (id): EventBody => ({
      type: "tool.completed",
      callId: id,
      name: "bash",
      ok: true,
      preview: "",
      content: "x",
      durationMs: 1,
    }),
  ),
  fc.constant<EventBody>({ type: "turn.ended", outcome: "completed", turns: 1 }),
);

function chunksOf(told: readonly Outgoing[], kind: string): string {
  return told
    .flatMap((one) => {
      if (one.method !== "session/update" || one.update.sessionUpdate !== kind) return [];
      const { content } = one.update as { content: { text: string } };
      return [content.text];
    })
    .join("");
}

function saidBy(told: readonly Outgoing[], id: string | undefined, type: string): string {
  return told
    .flatMap((one) => {
      if (one.method !== "_demian/event") return [];
      const event = one.params["event"] as RuntimeEvent;
      return event.type === type && event.invocationId === id && "text" in event ? [event.text] : [];
    })
    .join("");
}

test("the text of each agent is sent completely, in order and as its own, and every call has one beginning and one end", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(who, body, fc.boolean()), { maxLength: 60 }), (steps) => {
      let ids = 0;
      const newId = () => `id-${ids++}`;
      const translator = new Translator({ cwd: "/p", tools: new ToolRegistry(), newId });
      const told = steps.flatMap(([one, event, isLate]) => {
        // Ids are unique in a root session: each agent has its own calls.
        const own = "callId" in event ? { callId: `${one}-${event.callId}` } : {};
        const whole = { ...event, ...own, ...WHO[one], sessionId: "s", agent: one, ts: 0 } as RuntimeEvent;
        return [...translator.translate(whole), ...(isLate ? translator.live() : [])];
      });
      told.push(...translator.closeOpen("over"));
      const wanted = (one: Who, type: string) =>
        steps
          .flatMap(([by, event]) =>
            by === one && event.type === type && "text" in event ? [event.text] : [],
          )
          .join("");
      expect(chunksOf(told, "agent_message_chunk")).toBe(wanted("main", "model.text.delta"));
      expect(chunksOf(told, "agent_thought_chunk")).toBe(wanted("main", "model.reasoning.delta"));
      for (const one of ["child", "deep"] as const) {
        for (const type of ["model.text.delta", "model.reasoning.delta"]) {
          expect(saidBy(told, WHO[one].invocationId, type)).toBe(wanted(one, type));
        }
      }
      const open = new Set<string>();
      for (const one of told) {
        if (one.method !== "session/update") continue;
        const { update } = one;
        if (update.sessionUpdate === "tool_call") {
          expect(open.has(update.toolCallId)).toBe(false);
          open.add(update.toolCallId);
        }
        if (update.sessionUpdate !== "tool_call_update") continue;
        expect(open.has(update.toolCallId)).toBe(true);
        if (update.status === "completed" || update.status === "failed") open.delete(update.toolCallId);
      }
      expect([...open]).toEqual([]);
      expect(translator.isWaiting).toBe(false);
    }),
  );
});
