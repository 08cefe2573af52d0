import { expect, test } from "vitest";
import {
  mayDo,
  OPERATIONS,
  type OperationName,
  type Relation,
} from "../../../src/sessions/rights/operations.ts";

const RELATIONS: readonly Relation[] = ["self", "below", "parent", "above", "sibling", "other"];
const NOTHING = { mayAnswer: false, seesAll: false };
const AGENT = { isAgent: true, isProven: true };

/** In the order of RELATIONS; x: allowed. */
const TABLE: Readonly<Record<OperationName, string>> = {
  see: "xxxxxx",
  read: "xx....",
  wait: "xxxxxx",
  spawn: "xx....",
  send: "xxx...",
  interrupt: "xx....",
  stop: "xx....",
  resume: "xx....",
  rename: ".x....",
  label: ".x....",
  archive: ".x....",
  adjust: ".x....",
  remove: ".x....",
  cancel: ".x....",
  quota: ".x....",
  undo: ".x....",
  open: ".x....",
  take: "......",
  answer: "......",
};

const names = Object.keys(OPERATIONS) as OperationName[];
const show = (isAllowed: (relation: Relation) => boolean): string =>
  RELATIONS.map((relation) => (isAllowed(relation) ? "x" : ".")).join("");

test.each(names)("%s: what an agent may do", (name) => {
  expect(show((relation) => mayDo(AGENT, name, [relation], NOTHING).isAllowed)).toBe(TABLE[name]);
});

test.each(names)("%s: a person may do everything", (name) => {
  const person = { isAgent: false, isProven: false };
  expect(show((relation) => mayDo(person, name, [relation], NOTHING).isAllowed)).toBe("xxxxxx");
});

test.each(names)("%s: an agent that may be one of two may do what both may", (name) => {
  for (const first of RELATIONS) {
    const both = show((second) => mayDo(AGENT, name, [first, second], NOTHING).isAllowed);
    const isFirst = mayDo(AGENT, name, [first], NOTHING).isAllowed;
    expect(both).toBe(isFirst ? TABLE[name] : "......");
  }
});

test.each(names)("%s: an agent of nobody known may only see", (name) => {
  const isAllowed = mayDo({ isAgent: true, isProven: false }, name, [], NOTHING).isAllowed;
  expect(isAllowed).toBe(name === "see" || name === "wait");
});

test("with a grant it answers below it, if its process proves who it is", () => {
  const granted = { mayAnswer: true, seesAll: false };
  expect(show((relation) => mayDo(AGENT, "answer", [relation], granted).isAllowed)).toBe(".x....");
  const unproven = { isAgent: true, isProven: false };
  expect(show((relation) => mayDo(unproven, "answer", [relation], granted).isAllowed)).toBe("......");
});

test("agents_see = all lets it read everything, and nothing else", () => {
  const all = { mayAnswer: false, seesAll: true };
  const changed = names.filter(
    (name) => show((relation) => mayDo(AGENT, name, [relation], all).isAllowed) !== TABLE[name],
  );
  expect(changed).toEqual(["read"]);
});

test("a refusal of its own request says that no agent answers those", () => {
  expect(mayDo(AGENT, "answer", ["self"], { mayAnswer: true, seesAll: false })).toMatchObject({
    why: expect.stringContaining("no agent answers its own requests"),
  });
});
