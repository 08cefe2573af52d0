import { expect, test } from "vitest";
import { EchoMemory } from "../../../src/runtime/providers/echo-memory.ts";

test("the oldest are forgotten when there are too many, or when they are too large", () => {
  const memory = new EchoMemory<string>();
  for (let index = 0; index <= 2000; index += 1) memory.keep(`c${index}`, "x");
  expect([memory.find("c0"), memory.find("c1"), memory.find("c2000")]).toEqual([undefined, "x", "x"]);
  memory.keep("large", "y".repeat(15 * 1024 * 1024));
  memory.keep("next", "z".repeat(2 * 1024 * 1024));
  expect([memory.find("c2000"), memory.find("large"), memory.find("next")?.length]).toEqual([
    undefined,
    undefined,
    2 * 1024 * 1024,
  ]);
});

test("a call that is kept again counts once", () => {
  const memory = new EchoMemory<string>();
  for (let round = 0; round < 5; round += 1) memory.keep("same", "x".repeat(10 * 1024 * 1024));
  memory.keep("other", "y");
  expect(memory.find("same")).toHaveLength(10 * 1024 * 1024);
  expect(memory.find(undefined)).toBeUndefined();
});
