// Valid session ids. No id becomes a path or an argument unchecked.
import fc from "fast-check";
import { expect, test } from "vitest";
import { SessionId } from "../../src/protocol/session.ts";

const isValid = (id: unknown) => SessionId.safeParse(id).success;

test.each(["a", "5a01f0d8-7a30-4c53-8d0d-1b3d9d2f1a11", "s_abc", "A.b-c_9", "_x", "0", "a".repeat(128)])(
  "%s is an id",
  (id) => {
    expect(isValid(id)).toBe(true);
  },
);

test.each([
  "",
  ".",
  "..",
  ".hidden",
  "-flag",
  "a/b",
  "../x",
  "a\\b",
  "a b",
  "a\0",
  "ä",
  "a\n",
  "a".repeat(129),
])("%j is not an id", (id) => {
  expect(isValid(id)).toBe(false);
});

test("every valid id is one plain path component", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 140 }), (id) => {
      if (isValid(id)) expect(id).toMatch(/^\w[\w.-]{0,127}$/);
    }),
  );
});
