// What a client's line may not contain, even if JSON.parse accepts it.
import { describe, expect, test } from "vitest";
import { CodedError } from "../../src/base/coded-error.ts";
import { findFault, isObject, MAX_DEPTH, parseUntrusted } from "../../src/base/json.ts";

function refusal(text: string): string {
  try {
    parseUntrusted(text);
  } catch (error) {
    expect(error).toBeInstanceOf(CodedError);
    expect((error as CodedError).code).toBe("invalid_message");
    return (error as CodedError).message;
  }
  throw new Error(`accepted: ${text.slice(0, 80)}`);
}

const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

describe("parseUntrusted", () => {
  test("an object passes unchanged", () => {
    expect(parseUntrusted('{"type":"x","n":[1,{"b":null}],"s":"\\u0000"}')).toEqual({
      type: "x",
      n: [1, { b: null }],
      s: "\0",
    });
  });

  test.each(["", " ", "{", "nul", "{'a':1}", '{"a":1}{"b":2}', "\ufeff{}", '{"a":01}', '{"a":"\n"}'])(
    "%j is not a JSON value",
    (text) => {
      expect(refusal(text)).toMatch(/^not a JSON value: /);
    },
  );

  test.each(["[]", "1", '"text"', "null", "true"])("%s is not an object", (text) => {
    expect(refusal(text)).toBe("a frame must be one JSON object on one line");
  });

  test("a hundred thousand levels are refused without a stack overflow", () => {
    expect(refusal(nested(100_000))).toMatch(/nested deeper than|not a JSON value/);
    expect(refusal(`{"a":${'{"b":'.repeat(5000)}1${"}".repeat(5000)}}`)).toMatch(/nested deeper than 64/);
  });

  test("the deepest allowed level passes, one more does not", () => {
    expect(parseUntrusted(nested(MAX_DEPTH))).toHaveProperty("a");
    expect(refusal(nested(MAX_DEPTH + 1))).toBe(`nested deeper than ${MAX_DEPTH} levels`);
  });

  test.each(["__proto__", "constructor", "prototype"])("the key %s is refused at any depth", (key) => {
    expect(refusal(`{"${key}":{"polluted":true}}`)).toBe(`the key "${key}" is not allowed`);
    expect(refusal(`{"a":[{"b":{"${key}":1}}]}`)).toBe(`the key "${key}" is not allowed`);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("an escaped forbidden key is recognized", () => {
    expect(refusal('{"\\u005f_proto__":1}')).toBe('the key "__proto__" is not allowed');
  });

  test("1e400 is refused: it would come back as null", () => {
    expect(refusal('{"n":1e400}')).toBe("a number is out of range");
    expect(refusal('{"n":[-1e400]}')).toBe("a number is out of range");
    expect(parseUntrusted('{"n":1e300}')).toEqual({ n: 1e300 });
  });

  test("for a duplicate key the last value counts, once", () => {
    expect(parseUntrusted('{"a":1,"a":2}')).toEqual({ a: 2 });
  });
});

test("a message of very many tiny values is refused before anything looks at them one by one", () => {
  const many = (n: number) => Array.from({ length: n }, () => 1);
  expect(() => parseUntrusted(JSON.stringify({ a: many(50_000) }))).toThrow(/more than 50000 values/);
  expect(() => parseUntrusted(JSON.stringify({ a: many(26_000), b: [many(26_000)] }))).toThrow(/values/);
  expect(parseUntrusted(JSON.stringify({ a: many(49_000) }))).toBeDefined();
  // An agent's output is not bounded by this.
  expect(findFault(many(60_000))).toBeUndefined();
});

test("findFault walks any value, also one that is not an object", () => {
  expect(findFault("text")).toBeUndefined();
  expect(findFault(Number.NaN)).toBe("a number is out of range");
  expect(findFault([1, [2, [3]]])).toBeUndefined();
});

test("isObject distinguishes arrays and null from objects", () => {
  expect([{}, [], null, "x", undefined].map(isObject)).toEqual([true, false, false, false, false]);
});

test.each(['{"a":"\\ud800"}', '{"a":["x",{"b":"\\udc00 x"}]}', '{"\\ud800":1}'])(
  "%s has a lone surrogate and is refused; whole ones pass",
  (line) => {
    expect(() => parseUntrusted(line)).toThrow(/lone surrogate/);
    expect(parseUntrusted('{"a":"\\ud83d\\ude00 é"}')).toEqual({ a: "😀 é" });
  },
);
