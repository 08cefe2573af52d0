import { expect, test } from "vitest";
import { describeSession, pickSession, shortenIds } from "../../../src/cli/blemees/find.ts";
import { aView } from "../../client/session-views.ts";

const A = "5a01f0d8-0000-4000-8000-000000000001";
const B = "5a01f0d8-0000-4000-8000-000000000002";
const C = "7b000000-0000-4000-8000-000000000003";
const VIEWS = [
  aView({ session_id: A, name: "fixer" }),
  aView({ session_id: B, name: "twin" }),
  aView({ session_id: C, name: "twin" }),
  aView({ session_id: "plain", name: C }),
];

test.each([
  ["the whole id", A, A],
  ["a beginning that only one has", "7b", C],
  ["its name", "fixer", A],
  ["an id, even if another one is called so", C, C],
])("a session is found by %s", (_how, given, found) => {
  expect(pickSession(VIEWS, given).session_id).toBe(found);
});

test.each([
  ["a name of two", "twin", [B, C]],
  ["a beginning of two ids", "5a01", [A, B]],
])("%s is refused with the candidates", (_how, given, candidates) => {
  expect(() => pickSession(VIEWS, given)).toThrow(
    expect.objectContaining({
      code: "session_ambiguous",
      data: { candidates },
      message: expect.stringContaining(candidates[0]?.slice(0, 8) ?? "?"),
    }),
  );
});

test.each([
  ["fixre", '"fixre"; did you mean fixer?'],
  ["nothing-like-it", "`sm all` lists them"],
  ["", "`sm all` lists them"],
])("%j is no session, and the error helps: %s", (given, help) => {
  expect(() => pickSession(VIEWS, given)).toThrow(
    expect.objectContaining({ code: "session_unknown", message: expect.stringContaining(help) }),
  );
});

test("for destructive commands a short id prefix is refused; names and complete ids are not", () => {
  const views = [
    ...VIEWS,
    aView({ session_id: "w1" }),
    aView({ session_id: C.replace("7", "9"), name: "n" }),
  ];
  expect(() => pickSession(views, "7b0", 4)).toThrow(
    expect.objectContaining({ code: "usage", message: expect.stringContaining("at least 4 characters") }),
  );
  expect(pickSession(views, "7b00", 4).session_id).toBe(C);
  expect(pickSession(views, "w1", 4).session_id).toBe("w1");
  expect(pickSession(views, "n", 4).name).toBe("n");
});

test("a UUID is shown as its shortest unique prefix; other ids are shown completely", () => {
  const shorts = shortenIds([A, B, C, "plain"]);
  expect([...shorts.values()]).toEqual([A, B, "7b000000", "plain"]);
  for (const short of shorts.values()) {
    expect([...shorts.keys()].filter((id) => id.startsWith(short))).toHaveLength(1);
  }
});

test("a session's title cannot write to the terminal", () => {
  expect(describeSession(aView({ session_id: A, name: "a\u001b[31m\nb" }))).toBe("5a01f0d8 (a\\x1b[31m b)");
});
