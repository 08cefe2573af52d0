// The stream parser.
import { describe, expect, test } from "vitest";
import type { ProviderError } from "../../../../src/runtime/providers/types.ts";
import { bytes, sse, status } from "../../../support/model-server.ts";
import {
  completed,
  created,
  functionCall,
  message,
  responsesEvents,
  responsesReply,
  thought,
} from "../../../support/responses.ts";
import { abortAtFirstWords, askOf, failureOf, listen } from "../ask.ts";
import { eachOnGround, type Ground } from "./logins.ts";

let ground: Ground;
eachOnGround((fresh) => {
  ground = fresh;
});

type Events = Parameters<typeof responsesEvents>;
const hear = (...events: Events) => {
  ground.server.script(responsesEvents(...events));
  return listen(ground.provider({ maxRetries: 0 }));
};
const READ = { id: "call_1", name: "read_file", input: { path: "a long enough path" } };

test("text is streamed as it arrives, with usage at the end", async () => {
  ground.server.script(responsesReply("one two three"));
  const { events, text, response } = await listen(ground.provider());
  expect(events.filter(({ type }) => type === "text_delta")).toHaveLength(3);
  expect(text).toBe("one two three");
  expect(response).toMatchObject({
    message: { role: "assistant", content: "one two three" },
    toolCalls: [],
    stopReason: "end_turn",
    model: "the-model",
    usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 40, reasoningTokens: 7 },
  });
});

test("a word is emitted before the next one is sent, and a complete answer does not wait for the connection to end", async () => {
  let goOn = () => {};
  const told = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const [, first, second, end] = message(0, "first second");
  ground.server.script(async ({ head, write, gone }) => {
    head();
    await write(sse(created) + sse(first ?? {}));
    await told;
    await write(sse(second ?? {}) + sse(end ?? {}) + sse(completed()));
    await gone;
  });
  const heard: string[] = [];
  for await (const event of ground.provider().stream?.(askOf()) ?? []) {
    if (event.type === "text_delta") heard.push(event.text);
    goOn();
  }
  expect(heard).toEqual(["first", " second"]);
});

test("a call is streamed in pieces and counts when its item is complete", async () => {
  const { events, response } = await hear(
    created,
    ...message(0, "Looking."),
    ...functionCall(1, READ),
    completed(),
  );
  const pieces = events.flatMap((event) => (event.type === "tool_call_delta" ? [event] : []));
  expect(pieces[0]).toEqual({ type: "tool_call_delta", index: 0, id: "call_1", name: "read_file" });
  expect(pieces.map((piece) => piece.arguments ?? "").join("")).toBe(JSON.stringify(READ.input));
  expect(response).toMatchObject({
    stopReason: "tool_use",
    toolCalls: [READ],
    message: { content: "Looking." },
  });
});

test("what the complete item says wins over the pieces, which may be lost", async () => {
  const all = functionCall(0, READ);
  const { response } = await hear(created, ...all.filter((_, index) => index !== 2), completed());
  expect(response.toolCalls).toEqual([READ]);
});

test("a call that never became complete is no call: the answer is broken", async () => {
  const half = functionCall(0, READ).slice(0, 3);
  const { response } = await hear(created, ...half, completed());
  expect(response).toMatchObject({ stopReason: "error", toolCalls: [], error: { kind: "network" } });
  expect(response.error?.message).toMatch(/during a tool call/);
});

test("reasoning is separate, its parts are paragraphs, and so are messages of one answer", async () => {
  const { reasoning, text } = await hear(
    created,
    ...thought(0, "First."),
    ...thought(1, "Second."),
    ...message(2, "One."),
    ...message(3, "Two."),
    completed(),
  );
  expect({ reasoning, text }).toEqual({ reasoning: "First.\n\nSecond.", text: "One.\n\nTwo." });
});

test("unknown events are ignored, also with a name that every object has", async () => {
  const odd = [
    { type: "codex.rate_limits", message: "not an error" },
    { type: "constructor" },
    { type: "__proto__" },
    { type: "response.output_item.done", output_index: 9, item: { type: "web_search_call", id: "ws" } },
  ];
  const { response } = await hear(created, ...odd, ...message(0, "ok"), completed());
  expect(response).toMatchObject({ stopReason: "end_turn", message: { content: "ok" } });
});

test.each([
  ["only with the complete items", [message(0, "ok").slice(-1), functionCall(1, READ).slice(-1)].flat(), {}],
  [
    "only at the end",
    [],
    {
      output: [
        { id: "m", type: "message", content: [{ type: "output_text", text: "ok" }] },
        {
          id: "f",
          type: "function_call",
          call_id: "call_1",
          name: "read_file",
          arguments: JSON.stringify(READ.input),
        },
      ],
    },
  ],
])("an answer that comes %s is the same", async (_, items, end) => {
  const { text, response } = await hear(created, ...items, completed(end));
  expect(text).toBe("ok");
  expect(response.toolCalls).toEqual([READ]);
});

test.each<[string, (event: Events[number]) => Events[number]]>([
  ["without its place", ({ output_index: _, ...event }) => event as Events[number]],
  [
    "in pieces that name only its id",
    (event) => (event.type.endsWith(".delta") ? { ...event, output_index: undefined } : event),
  ],
  [
    "under an id that changes",
    (event) => ({
      ...event,
      item_id: "x",
      ...(event["item"] ? { item: { ...event["item"], id: "y" } } : {}),
    }),
  ],
])("an item that comes %s is one item", async (_, change) => {
  const output = [
    { id: "other", type: "message", content: [{ type: "output_text", text: "one two" }] },
    { id: "another", type: "function_call", call_id: "call_1", name: "read_file", arguments: "{}" },
  ];
  const items = [...message(0, "one two"), ...functionCall(1, READ)].map(change);
  const { text, response } = await hear(
    created,
    ...items,
    completed(items[0]?.["output_index"] === 0 ? { output } : {}),
  );
  expect(text).toBe("one two");
  expect(response.toolCalls).toEqual([READ]);
});

test.each([
  [
    "pieces of calls",
    (at: number) => ({ type: "response.function_call_arguments.delta", output_index: at, delta: "x" }),
  ],
  ["words", (at: number) => ({ type: "response.output_text.delta", output_index: at, delta: "x" })],
  [
    "complete items",
    (at: number) => ({ type: "response.output_item.done", output_index: at, item: { type: "x" } }),
  ],
])("a server that never stops making items, by %s, is given up", async (_, eventAt) => {
  const flood = Array.from({ length: 1002 }, (_, at) => sse(eventAt(at))).join("");
  ground.server.script(bytes(sse(created), flood, sse(completed())));
  const provider = ground.provider({ maxRetries: 0 });
  const error = await listen(provider).then(
    ({ response }) => response.error,
    (thrown: ProviderError) => thrown.failure,
  );
  expect(error).toMatchObject({ kind: "protocol", message: expect.stringMatching(/more than 1000 items/) });
});

test("a server that answers in one piece is understood", async () => {
  const { response } = completed({
    output: [{ type: "message", content: [{ type: "output_text", text: "ok" }] }],
  });
  ground.server.script(status(200, response));
  expect((await listen(ground.provider())).text).toBe("ok");
});

test("arguments that are no JSON reach the loop as they are", async () => {
  const [begin, , ...rest] = functionCall(0, READ);
  const done = {
    ...rest.at(-1),
    item: { type: "function_call", call_id: "call_1", name: "x", arguments: "{oops" },
  };
  const { response } = await hear(created, begin ?? created, done as Events[number], completed());
  expect(response.toolCalls).toEqual([{ id: "call_1", name: "x", input: "{oops" }]);
});

describe("32: an answer that does not end well", () => {
  const incomplete = (reason: string) => ({
    type: "response.incomplete",
    response: { id: "resp_1", status: "incomplete", incomplete_details: { reason } },
  });

  test("the token limit is reported, and a call that it cut off stays as text", async () => {
    const cut = functionCall(1, READ).slice(0, 3);
    const { response } = await hear(created, ...message(0, "so far"), incomplete("max_output_tokens"));
    expect(response).toMatchObject({ stopReason: "max_tokens", message: { content: "so far" } });
    const again = await hear(created, ...cut, incomplete("max_output_tokens"));
    expect(again.response.toolCalls).toEqual([
      { id: "call_1", name: "read_file", input: expect.any(String) },
    ]);
  });

  test("a filter is reported as one, by a reason, a refusal or a policy", async () => {
    const filtered = { stopReason: "content_filter", error: { kind: "content_filter" } };
    const reason = await hear(created, ...message(0, "x"), incomplete("content_filter"));
    expect(reason.response).toMatchObject(filtered);
    const refusal = { type: "response.refusal.delta", output_index: 0, delta: "I will not." };
    const said = await hear(created, refusal, completed());
    expect(said.response).toMatchObject({ ...filtered, message: { content: "I will not." } });
    const item = { type: "message", content: [{ type: "refusal", refusal: "I will not." }] };
    const whole = await hear(
      created,
      { type: "response.output_item.done", output_index: 0, item },
      completed(),
    );
    expect(whole.response).toMatchObject({ ...filtered, message: { content: "I will not." } });
    const policy = { type: "response.failed", response: { error: { code: "cyber_policy", message: "no" } } };
    expect((await hear(created, policy)).response).toMatchObject(filtered);
  });

  test("another reason is an error that keeps the text", async () => {
    const { response } = await hear(created, ...message(0, "so far"), incomplete("mystery"));
    expect(response).toMatchObject({ stopReason: "error", message: { content: "so far" } });
    expect(response.error?.message).toMatch(/\(mystery\)/);
  });

  test("a stream that is cut keeps what was said", async () => {
    ground.server.script(async ({ head, write, cut }) => {
      head();
      for (const event of [created, ...message(0, "so far")]) await write(sse(event));
      cut();
    });
    const { response } = await listen(ground.provider());
    expect(response).toMatchObject({
      stopReason: "error",
      error: { kind: "network" },
      message: { content: "so far" },
    });
  });

  test("a stream that ends before its answer is an error, and an empty one too", async () => {
    const { response } = await hear(created, ...message(0, "so far"));
    expect(response.error?.message).toMatch(/before its answer was complete/);
    ground.server.script(bytes(sse(created), sse(completed())));
    expect((await failureOf(listen(ground.provider({ maxRetries: 0 })))).message).toMatch(/sent no answer/);
  });

  test("something other than events is named", async () => {
    ground.server.script(bytes("<html><title>Sign in</title>"));
    const failure = await failureOf(listen(ground.provider({ maxRetries: 0 })));
    expect(failure).toMatchObject({ kind: "protocol", message: expect.stringMatching(/Sign in/) });
  });

  test("an abort in the middle ends it at once, and the connection is closed", async () => {
    let left: Promise<void> | undefined;
    ground.server.script(async ({ head, write, gone }) => {
      left = gone;
      head();
      for (const event of [created, ...message(0, "first words")]) await write(sse(event));
      await gone;
    });
    const events = await abortAtFirstWords(ground.provider());
    expect(events.at(-1)).toMatchObject({
      type: "done",
      response: { stopReason: "error", error: { kind: "aborted" } },
    });
    await left;
  });
});
