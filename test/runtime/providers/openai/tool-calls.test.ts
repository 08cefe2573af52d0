import { describe, expect, test } from "vitest";
import { chunk, type ModelServer } from "../../../support/model-server.ts";
import { eachWithServer } from "../ask.ts";
import { call, hear } from "./hear.ts";

let server: ModelServer;

eachWithServer((fresh) => {
  server = fresh;
});

describe("tool calls", () => {
  const piece = (args: string, more: object = {}) => ({ ...more, function: { arguments: args } });

  test.each([
    [
      "interleaved by index",
      [
        call({ index: 0, id: "a", function: { name: "one", arguments: '{"x"' } }),
        call({ index: 1, id: "b", function: { name: "two", arguments: '{"y"' } }),
        call(piece(":1}", { index: 0 })),
        call(piece(":2}", { index: 1 })),
      ],
    ],
    [
      "without an index",
      [
        call({ id: "a", function: { name: "one", arguments: '{"x"' } }),
        call(piece(":1}")),
        call({ id: "b", function: { name: "two", arguments: '{"y"' } }),
        call(piece(":2}")),
      ],
    ],
    [
      "by their ids, without an index",
      [
        call({ id: "a", function: { name: "one", arguments: '{"x"' } }),
        call({ id: "b", function: { name: "two", arguments: '{"y"' } }),
        call(piece(":1}", { id: "a" })),
        call(piece(":2}", { id: "b" })),
      ],
    ],
    [
      "all with the index 0",
      [
        call({ index: 0, id: "a", function: { name: "one", arguments: '{"x":1}' } }),
        call({ index: 0, id: "b", function: { name: "two", arguments: '{"y":2}' } }),
      ],
    ],
    [
      "with a new id in each piece",
      [
        call({ index: 0, id: "a", function: { name: "one", arguments: '{"x"' } }),
        call(piece(":1}", { index: 0, id: "a2" })),
        call({ index: 1, id: "b", function: { name: "two", arguments: '{"y"' } }),
        call(piece(":2}", { index: 1, id: "b2" })),
      ],
    ],
    [
      "with the name repeated in each piece",
      [
        call({ index: 0, id: "a", function: { name: "one", arguments: '{"x"' } }),
        call({ index: 0, id: "a", function: { name: "one", arguments: ":1}" } }),
        call({ index: 1, id: "b", function: { name: "two", arguments: '{"y":2}' } }),
      ],
    ],
    [
      "with objects for arguments, in one message",
      [
        chunk({
          tool_calls: [
            { index: 0, id: "a", function: { name: "one", arguments: { x: 1 } } },
            { index: 1, id: "b", function: { name: "two", arguments: { y: 2 } } },
          ],
        }),
      ],
    ],
  ])("calls %s are put together", async (_, data) => {
    const { response, events: told } = await hear(server, ...data, chunk({}, "tool_calls"), "[DONE]");
    expect(response).toMatchObject({
      stopReason: "tool_use",
      toolCalls: [
        { id: "a", name: "one", input: { x: 1 } },
        { id: "b", name: "two", input: { y: 2 } },
      ],
    });
    expect(response.message.toolCalls).toEqual(response.toolCalls);
    const indexes = told.flatMap((event) => (event.type === "tool_call_delta" ? [event.index] : []));
    expect(new Set(indexes)).toEqual(new Set([0, 1]));
  });

  test("two calls of one tool at one index are distinguished by their ids", async () => {
    const same = (id: string) => call({ index: 0, id, function: { name: "t", arguments: "" } });
    const { response } = await hear(server, same("a"), same("b"), chunk({}, "tool_calls"));
    expect(response.toolCalls.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test("without ids a repeated name continues the call until its arguments are complete", async () => {
    const written = (text: string) => call({ index: 0, function: { name: "t", arguments: text } });
    const { response } = await hear(
      server,
      written('{"x"'),
      written(":1}"),
      written('{"x":2}'),
      chunk({}, "tool_calls"),
    );
    expect(response.toolCalls.map(({ input }) => input)).toEqual([{ x: 1 }, { x: 2 }]);
  });

  test("calls with the reason stop, and none at all, are still calls", async () => {
    const one = call({ index: 0, id: "a", function: { name: "t", arguments: "" } });
    expect((await hear(server, one, chunk({}, "stop"))).response).toMatchObject({
      stopReason: "tool_use",
      toolCalls: [{ input: {} }],
    });
    expect((await hear(server, one, "[DONE]")).response.stopReason).toBe("tool_use");
  });

  test("ids that are missing, doubled or odd become ones that are unique and can go anywhere", async () => {
    const ids = [undefined, "", "same", "same", "functions.t:0", "x".repeat(80)];
    const calls = ids.map((id, index) => call({ index, id, function: { name: "t", arguments: "{}" } }));
    const { toolCalls } = (await hear(server, ...calls, chunk({}, "tool_calls"))).response;
    expect(toolCalls).toHaveLength(6);
    expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(6);
    for (const { id } of toolCalls) expect(id).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
    expect(toolCalls[2]?.id).toBe("same");
    expect(toolCalls[4]?.id).toBe("functions_t_0");
  });

  test.each([
    ['{"path": "a', "stop", '{"path": "a'],
    ["not json", "stop", "not json"],
    ["", "length", ""],
    ["", "stop", {}],
    ["null", "stop", {}],
    ["[1]", "stop", [1]],
    ['{"__proto__": 1}', "stop", '{"__proto__": 1}'],
    ["[".repeat(100) + "]".repeat(100), "stop", "[".repeat(100) + "]".repeat(100)],
  ])("the arguments %j with the reason %s are the input %j", async (args, finish, input) => {
    const { response } = await hear(
      server,
      call({ index: 0, id: "a", function: { name: "t", arguments: args } }),
      chunk({}, finish),
    );
    expect(response).toMatchObject({ stopReason: "tool_use" });
    expect(response.toolCalls).toEqual([{ id: "a", name: "t", input }]);
  });
});

test("a server that never stops calling is given up", async () => {
  const calls = Array.from({ length: 2000 }, (_, index) => ({
    index,
    function: { name: "t", arguments: "{}" },
  }));
  const { response } = await hear(server, ...calls.map(call), chunk({}, "tool_calls"));
  expect(response).toMatchObject({ stopReason: "error", toolCalls: [], error: { kind: "protocol" } });
});
