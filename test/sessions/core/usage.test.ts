// Token counters as a reducer.
import { expect, test } from "vitest";
import type { ResultEvent } from "../../../src/protocol/events.ts";
import { addUsage, countContextTokens, createUsage } from "../../../src/sessions/core/usage.ts";

const result = (fields: Partial<ResultEvent>): ResultEvent => ({
  type: "agent.result",
  backend: "claude",
  subtype: "success",
  ...fields,
});

test("a session starts with the four base counters at zero and no last turn", () => {
  expect(createUsage()).toEqual({
    turns: 0,
    last_turn_usage: {},
    cumulative_usage: {
      input_tokens: 0,
      output_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    },
  });
});

test("a result with usage counts as a turn and is added to the totals", () => {
  const first = addUsage(createUsage(), result({ usage: { input_tokens: 5, output_tokens: 2 } }), 1000);
  const second = addUsage(first, result({ usage: { input_tokens: 1, cache_read_input_tokens: 7 } }), 2000);
  expect(second).toMatchObject({
    turns: 2,
    last_turn_at_ms: 2000,
    last_turn_usage: { input_tokens: 1, cache_read_input_tokens: 7 },
    cumulative_usage: { input_tokens: 6, output_tokens: 2, cache_read_input_tokens: 7 },
  });
  expect(first.turns).toBe(1);
});

test("a result without usage changes nothing, not even the time", () => {
  const before = addUsage(createUsage(), result({ usage: { input_tokens: 5 } }), 1000);
  expect(addUsage(before, result({ subtype: "interrupted" }), 9000)).toBe(before);
});

test("vendor keys are shown for the last turn and not added up", () => {
  const fields = addUsage(createUsage(), result({ usage: { input_tokens: 1, web_search_requests: 3 } }), 1);
  expect(fields.last_turn_usage).toEqual({ input_tokens: 1, web_search_requests: 3 });
  expect(fields.cumulative_usage).not.toHaveProperty("web_search_requests");
});

test("reasoning tokens are added up once there are any", () => {
  const fields = addUsage(createUsage(), result({ usage: { reasoning_output_tokens: 4 } }), 1);
  expect(
    addUsage(fields, result({ usage: { reasoning_output_tokens: 6 } }), 2).cumulative_usage,
  ).toMatchObject({
    reasoning_output_tokens: 10,
  });
});

test("cost is present only if a result reported one", () => {
  const free = addUsage(createUsage(), result({ usage: {} }), 1);
  expect(free).not.toHaveProperty("cost_usd");
  const paid = addUsage(free, result({ usage: {}, cost_usd: 0.5 }), 2);
  expect(addUsage(paid, result({ usage: {} }), 3).cost_usd).toBe(0.5);
});

test("the context is the input side of the last turn", () => {
  const usage = { input_tokens: 500, output_tokens: 200, cache_read_input_tokens: 14000 };
  expect(countContextTokens(usage)).toBe(14500);
  expect(countContextTokens({})).toBe(0);
});
