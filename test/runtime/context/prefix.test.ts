// How often a conversation loses the beginning that a provider has cached.
import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/runtime/messages.ts";
import type { ScriptedReply } from "../../../src/runtime/providers/scripted/index.ts";
import { Stage, testTool } from "../stage.ts";

/** 12 kB, about 3,000 tokens as they are estimated. */
const FILE = "const value = compute(1);\n".repeat(470);
const read = testTool({ name: "read_file", execute: async () => ({ ok: true, content: FILE }) });
const reads = (n: number): ScriptedReply => ({
  text: `I read part ${n}.`,
  toolCalls: [{ name: "read_file", input: { path: `src/part${n}.ts` } }],
});
const config = { maxTurns: 100, context: { main: { maxContextTokens: 48_000 } } };

function stage(replies: ScriptedReply[]): Stage {
  return new Stage({ replies, tools: [read], config });
}

/** Requests that do not begin with all of the request before. */
function prefixChanges({ requests }: Stage): number {
  const begins = (before: readonly Message[], after: readonly Message[]) =>
    JSON.stringify(after.slice(0, before.length)) === JSON.stringify(before);
  return requests.filter((request, n) => {
    const before = requests[n - 1];
    return before !== undefined && !begins(before.messages, request.messages);
  }).length;
}

const systems = ({ requests }: Stage) => new Set(requests.map(({ messages }) => messages[0]?.content));

describe("the beginning of a conversation", () => {
  // 30 of 80 requests before the summary was a message and folds were large; 31 system prompts.
  test("changes rarely in 40 turns with a file each, and the system prompt never", async () => {
    const turns = Array.from({ length: 40 }, (_, n) => n);
    const stood = stage(turns.flatMap((n) => [reads(n), { text: `Part ${n} is fine. `.repeat(20) }]));
    for (const n of turns) await stood.run(`look at part ${n}`);
    expect(stood.requests).toHaveLength(80);
    expect(prefixChanges(stood)).toBeLessThanOrEqual(4);
    expect(systems(stood)).toEqual(new Set(["be brief"]));
  });

  // 50 of 61 requests before; 13 system prompts.
  test("changes rarely while one message leads to 60 reads", async () => {
    const stood = stage([...Array.from({ length: 60 }, (_, n) => reads(n)), { text: "done" }]);
    await stood.run("read everything");
    expect(stood.requests).toHaveLength(61);
    expect(prefixChanges(stood)).toBeLessThanOrEqual(7);
    expect(systems(stood)).toEqual(new Set(["be brief"]));
  });
});
