// Notices at the bottom of the session screen are complete if two rows are enough.
import { describe, expect, test } from "vitest";
import { measureWidth } from "../../../src/base/width.ts";
import { keys, liveView, Player } from "../support/ui.ts";

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

describe("the agent's steps", () => {
  const plan = [
    { text: "read", status: "completed" },
    { text: "write", status: "in_progress" },
    ...Array.from({ length: 8 }, (_, at) => ({ text: `test ${at}`, status: "pending" }) as const),
  ] as const;
  const rowsOf = (rows: number, steps: typeof plan | readonly [(typeof plan)[0]] = plan) => {
    const view = liveView({ plan: steps });
    return new Player({ view, size: { columns: 80, rows } }).frame().rows.map((row) => row.trimEnd());
  };

  test("stay above the composer until all are done, the current one first", () => {
    expect(rowsOf(24).filter((row) => /plan|\[.\]|more/.test(row))).toEqual([
      "plan 1/10 [>] write",
      "          [ ] test 0",
      "          … 7 more",
    ]);
    expect(rowsOf(24, [plan[0]]).join("\n")).not.toContain("plan");
  });

  test("have more room on a high screen, and none on a low one", () => {
    expect(rowsOf(40).filter((row) => /\[.\]/.test(row))).toHaveLength(5);
    expect(rowsOf(16).join("\n")).not.toContain("plan");
    expect(rowsOf(16)).toHaveLength(16);
  });
});
