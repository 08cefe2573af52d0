// However a server, a proxy or the network cuts an answer: the same comes out, and nothing throws half-way.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProviderError } from "../../../../src/runtime/providers/types.ts";
import { chunk, sse } from "../../../support/model-server.ts";
import { askOf, cutAt, fetchOf, openai } from "../ask.ts";

const text = fc.string({ unit: "binary", maxLength: 12 });
const delta = fc.oneof(
  fc.record({ content: text }),
  fc.record({ reasoning_content: text }),
  fc.record({
    tool_calls: fc.array(
      fc.record(
        {
          index: fc.nat(2),
          id: fc.constantFrom("a", "b", ""),
          function: fc.record({ name: fc.constantFrom("t", "u"), arguments: text }, { requiredKeys: [] }),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 3 },
    ),
  }),
);
const event = fc.oneof(
  { weight: 6, arbitrary: delta.map((value) => sse(chunk(value))) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(": ping\n\n", "event: x\ndata: {}\n\n", "data:\n\n", "id: 1\nretry: 5\n\n"),
  },
  { weight: 1, arbitrary: fc.constantFrom("stop", "length", "tool_calls").map((end) => sse(chunk({}, end))) },
);
const stream = fc
  .tuple(fc.array(event, { maxLength: 12 }), fc.boolean(), fc.boolean())
  .map(([events, isDone, isCrLf]) => {
    const all = events.join("") + (isDone ? sse("[DONE]") : "");
    return Buffer.from(isCrLf ? all.replaceAll("\n", "\r\n") : all);
  });
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 });

/** The events, without generated ids. */
async function outcomeOf(pieces: readonly Uint8Array[]): Promise<string> {
  const told: unknown[] = [];
  let dones = 0;
  try {
    for await (const heard of openai("http://localhost/v1", { fetch: fetchOf(pieces) }).stream?.(askOf()) ??
      []) {
      expect(dones).toBe(0);
      if (heard.type === "done") {
        dones += 1;
        expect(heard.response.stopReason === "tool_use").toBe(heard.response.toolCalls.length > 0);
      }
      told.push(heard);
    }
    expect(dones).toBe(1);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    // Only before the first event.
    expect(told).toEqual([]);
    return `failed: ${error.failure.kind} ${error.failure.message}`;
  }
  return JSON.stringify(told).replaceAll(/call_[0-9a-f]{32}/g, "call");
}

describe("a stream", () => {
  test("cut into any pieces gives the same events as in one piece", async () => {
    await fc.assert(
      fc.asyncProperty(stream, cuts, async (bytes, places) => {
        expect(await outcomeOf(cutAt(bytes, places))).toBe(await outcomeOf([bytes]));
      }),
      { numRuns: 150 },
    );
  });

  test("byte by byte gives the same as well", async () => {
    await fc.assert(
      fc.asyncProperty(stream, async (bytes) => {
        const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
        expect(await outcomeOf(single)).toBe(await outcomeOf([bytes]));
      }),
      // The first piece once had only its first byte.
      { numRuns: 15, examples: [[Buffer.from("id: 1\nretry: 5\n\n")]] },
    );
  });

  test("cut off anywhere, or with bytes that were changed, never throws after its first event", async () => {
    const damage = fc.record({
      keep: fc.double({ min: 0, max: 1, noNaN: true }),
      at: fc.nat(),
      bytes: fc.uint8Array({ maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(stream, damage, cuts, async (bytes, { keep, at, bytes: noise }, places) => {
        const kept = bytes.subarray(0, Math.floor(keep * bytes.length));
        const place = kept.length === 0 ? 0 : at % kept.length;
        const damaged = Buffer.concat([kept.subarray(0, place), noise, kept.subarray(place + noise.length)]);
        await outcomeOf(cutAt(damaged, places));
      }),
      { numRuns: 150 },
    );
  });

  test("of garbage never throws anything but a ProviderError", async () => {
    const json = fc.json({ maxDepth: 4 }).map((value) => Buffer.from(`data: ${value}\n\n`));
    const garbage = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      json,
      fc.json().map((value) => Buffer.from(value)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(garbage, { maxLength: 5 }), (pieces) =>
        outcomeOf(pieces).then(() => undefined),
      ),
      { numRuns: 150 },
    );
  });

  test("of chunks with the right names and the wrong types never throws either", async () => {
    const odd = fc.oneof(
      fc.constant(null),
      fc.string({ maxLength: 3 }),
      fc.integer(),
      fc.boolean(),
      fc.constant([]),
      fc.constant({}),
      fc.constant([null]),
    );
    const call = fc.record(
      {
        index: odd,
        id: odd,
        function: fc.oneof(odd, fc.record({ name: odd, arguments: odd })),
        extra_content: odd,
      },
      { requiredKeys: [] },
    );
    const message = fc.record(
      {
        content: odd,
        reasoning: odd,
        reasoning_details: odd,
        refusal: odd,
        tool_calls: fc.oneof(odd, fc.array(call, { maxLength: 2 })),
      },
      { requiredKeys: [] },
    );
    const choice = fc.record(
      { index: odd, delta: fc.oneof(odd, message), finish_reason: odd, text: odd },
      { requiredKeys: [] },
    );
    const whole = fc.record(
      {
        id: odd,
        model: odd,
        usage: odd,
        error: odd,
        choices: fc.oneof(odd, fc.array(choice, { maxLength: 2 })),
        x_groq: odd,
        prompt_feedback: odd,
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(whole, { maxLength: 4 }), async (chunks) => {
        await outcomeOf([Buffer.from(chunks.map(sse).join(""))]);
      }),
      { numRuns: 150 },
    );
  });
});
