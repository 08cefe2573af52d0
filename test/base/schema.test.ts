// Validation errors as one sentence that names the field.
import { expect, test } from "vitest";
import * as z from "zod";
import { explainIssues } from "../../src/base/schema.ts";

const Shape = z.strictObject({
  name: z.string(),
  count: z.int().min(0).optional(),
  inner: z.strictObject({ list: z.array(z.string()) }).optional(),
});

function explain(value: unknown, base?: string): string {
  return explainIssues(Shape.safeParse(value).error?.issues ?? [], base);
}

test.each([
  [{ name: "a", modle: 1 }, "/modle: unexpected property"],
  [{}, "/name: required, expected string"],
  [
    { name: "a", inner: { list: ["x", 1] } },
    "/inner/list/1: Invalid input: expected string, received number",
  ],
  [{ name: "a", inner: { list: [], extra: 1 } }, "/inner/extra: unexpected property"],
])("%j is explained as %s", (value, text) => {
  expect(explain(value)).toBe(text);
});

test("a wrong type names the expected and the received one", () => {
  expect(explain({ name: 1 })).toBe("/name: Invalid input: expected string, received number");
  expect(explain({ name: "a", count: 1.5 })).toMatch(/^\/count: .*int/);
});

test("the location of the value in the frame comes before the path", () => {
  expect(explain({ name: "a", x: 1 }, "/options/claude")).toBe("/options/claude/x: unexpected property");
});

test("a value that is not an object is named by its root", () => {
  expect(explain(7)).toMatch(/^\/: /);
});

test("three of many errors are reported", () => {
  expect(explain({ name: 1, count: "x", inner: 1, extra: 2 }).split("; ")).toHaveLength(3);
});

test("three of many unexpected properties are named, with the total", () => {
  const extra = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`k${n}`, 1]));
  const text = explain({ name: "a", ...extra });
  expect(text).toBe(
    "/k0: unexpected property; /k1: unexpected property; /k2: unexpected property; and 7 more",
  );
});
