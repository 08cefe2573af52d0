// The intended word, or none.
import { expect, test } from "vitest";
import { pickNearest } from "../../src/base/nearest.ts";

const FLAGS = ["socket", "log-level", "log-file", "version", "help", "store"];

test.each([
  ["sokcet", "socket"],
  ["log-levle", "log-level"],
  ["vresion", "version"],
  ["stor", "store"],
  ["hepl", "help"],
  ["sockets", "socket"],
  ["socket", "socket"],
])("%s is a typo of %s", (word, meant) => {
  expect(pickNearest(word, FLAGS)).toBe(meant);
});

test.each(["frobnicate", "x", "", "verbose-output"])("%j resembles nothing", (word) => {
  expect(pickNearest(word, FLAGS)).toBeUndefined();
});

test("an empty list has no nearest word", () => {
  expect(pickNearest("word", [])).toBeUndefined();
});
