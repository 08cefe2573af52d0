// Notices at the bottom of the session screen are complete if two rows are enough.
import { describe, expect, test } from "vitest";
import { measureWidth } from "../../../src/base/width.ts";
import { keys, Player } from "../support/ui.ts";

const LONG =
  "the provider openai has no key: set OPENAI_API_KEY, or name another variable in providers.openai.apiKeyEnv";
const joined = (rows: readonly string[]): string => rows.map((row) => row.trimEnd()).join(" ");

function failed(message: string, size = { columns: 80, rows: 24 }): readonly string[] {
  const player = new Player({ size });
  player.event({ kind: "send_failed", text: "hi", message, at_ms: player.now_ms });
  return player.frame().rows;
}

describe("why a message was not sent", () => {
  test("is read to its end on a second row, and the screen keeps its size", () => {
    const rows = failed(LONG);
    expect(rows).toHaveLength(24);
    expect(joined(rows.slice(-2))).toContain(LONG);
  });

  test("takes one row if that is enough, and at most two", () => {
    expect(failed("busy").at(-2)).not.toContain("busy");
    const rows = failed(`${LONG} ${LONG} ${LONG}`);
    expect(rows.at(-1)).toMatch(/…$/);
    expect(rows.at(-3)).not.toContain("provider");
    expect(rows.filter((row) => measureWidth(row) > 80)).toEqual([]);
  });

  test("leaves a low screen to the session", () => {
    expect(failed(LONG, { columns: 80, rows: 10 }).at(-1)).toMatch(/…$/);
  });
});

test("why something cannot be chosen is read to its end below the list", () => {
  const player = new Player({ pickers: [{ key: "p", title: "provider" }] }).press(...keys("p"));
  const options = [{ value: "openai", label: "openai", problem: LONG }];
  player.event({ kind: "picker", key: "p", options }).press(...keys("enter"));
  const rows = player.frame().rows;
  const at = rows.findIndex((row) => row.startsWith("! "));
  expect(joined(rows.slice(at, at + 2))).toBe(`! ${LONG}`);
  expect(rows).toHaveLength(24);
});
