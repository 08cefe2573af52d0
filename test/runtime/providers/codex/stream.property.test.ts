// However a server or the network cuts an answer, and whatever is in it: the same comes out, and nothing throws half-way.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ChatStreamEvent, ProviderError } from "../../../../src/runtime/providers/types.ts";
import { sse } from "../../../support/model-server.ts";
import { completed, created, functionCall, message, thought } from "../../../support/responses.ts";
import { askOf, cutAt, fetchOf } from "../ask.ts";
import { eachOnGround, type Ground } from "./logins.ts";

let ground: Ground;
eachOnGround((fresh) => {
  ground = fresh;
});

const text = fc.string({ unit: "binary", maxLength: 12 });
const index = fc.nat(3);
const failed = { type: "response.failed", response: { error: { code: "server_error", message: "é" } } };
const incomplete = {
  type: "response.incomplete",
  response: { incomplete_details: { reason: "max_output_tokens" } },
};
const whole = fc.oneof(
  fc.tuple(index, text).map(([at, said]) => message(at, said)),
  fc.tuple(index, text).map(([at, said]) => functionCall(at, { name: "t", input: { said } })),
  fc.tuple(index, text).map(([at, said]) => thought(at, said)),
);
const one = fc.oneof(
  whole.chain((events) => fc.subarray(events)),
  whole,
  fc.constantFrom([created], [completed()], [failed], [incomplete], [{ type: "response.unknown" }]),
);
const stream = fc
  .tuple(fc.array(one, { maxLength: 6 }), fc.boolean(), fc.boolean())
  .map(([events, isComplete, isCrLf]) => {
    const list = [...events.flat(), ...(isComplete ? [completed()] : [])];
    const all = list.map((event) => `event: ${event.type}\n${sse(event)}`).join("");
    return Buffer.from(isCrLf ? all.replaceAll("\n", "\r\n") : all);
  });
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 });

/** The events, without generated ids. */
async function outcomeOf(pieces: readonly (string | Uint8Array)[]): Promise<string> {
  const told: ChatStreamEvent[] = [];
  const provider = ground.provider({ maxRetries: 0 }, { fetch: fetchOf(pieces) });
  try {
    for await (const heard of provider.stream?.(askOf()) ?? []) told.push(heard);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    // Only before the first event.
    expect(told).toEqual([]);
    return `failed: ${error.failure.kind} ${error.failure.message}`;
  }
  const ends = told.flatMap((heard) => (heard.type === "done" ? [heard.response] : []));
  expect(ends).toHaveLength(1);
  expect(told.at(-1)?.type).toBe("done");
  const [response] = ends;
  expect(response?.stopReason === "tool_use").toBe(response?.toolCalls.length !== 0);
  const words = told.flatMap((heard) => (heard.type === "text_delta" ? [heard.text] : []));
  expect(words.join("")).toBe(response?.message.content ?? "");
  for (const heard of told)
    if (heard.type === "tool_call_delta") expect(heard.index).toBeGreaterThanOrEqual(0);
  return JSON.stringify(told).replaceAll(/call_[0-9a-f]{32}/g, "call");
}

describe("a stream", () => {
  test("cut into any pieces gives the same events as in one piece", async () => {
    await fc.assert(
      fc.asyncProperty(stream, cuts, async (bytes, places) => {
        expect(await outcomeOf(cutAt(bytes, places))).toBe(await outcomeOf([bytes]));
      }),
      { numRuns: 120 },
    );
  });

  test("byte by byte gives the same as well", async () => {
    const list = [
      created,
      ...thought(0),
      ...message(1, "für 🎉"),
      ...functionCall(2, { name: "t", input: {} }),
    ];
    const bytes = Buffer.from([...list, completed()].map(sse).join(""));
    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    expect(await outcomeOf(single)).toBe(await outcomeOf([bytes]));
  });

  test("of events with the right names and the wrong types never throws either", async () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom("message", "function_call", "reasoning", "completed", "failed", "incomplete"),
    );
    const inner = fc.dictionary(
      fc.constantFrom(
        "type",
        "id",
        "call_id",
        "name",
        "arguments",
        "content",
        "summary",
        "status",
        "output",
        "usage",
        "error",
        "encrypted_content",
        "incomplete_details",
      ),
      value,
    );
    const wrong = fc.record(
      {
        type: fc.constantFrom(
          "response.created",
          "response.output_text.delta",
          "response.refusal.delta",
          "response.reasoning_summary_part.added",
          "response.reasoning_summary_text.delta",
          "response.output_item.added",
          "response.function_call_arguments.delta",
          "response.output_item.done",
          "response.completed",
          "response.done",
          "response.failed",
          "response.incomplete",
          "error",
        ),
        item: fc.oneof(inner, value),
        response: fc.oneof(inner, value),
        delta: value,
        output_index: fc.oneof(index, value),
        item_id: value,
        error: fc.oneof(inner, value),
      },
      { requiredKeys: ["type"] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(wrong, inner), { maxLength: 8 }), async (events) => {
        await outcomeOf(events.map(sse));
      }),
      { numRuns: 300 },
    );
  });
});
