import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FleetRow } from "../../../src/client/view/fleet.ts";
import {
  countTotals,
  filterRows,
  findOffset,
  findWindow,
  groupRows,
  type Item,
  isMatch,
  stepFrom,
  summarizeRequests,
} from "../../../web/src/fleet/rows.ts";
import { fleetRow, sessionView } from "../support.ts";

const NONE: ReadonlySet<string> = new Set();
const HEIGHTS = { row: 50, group: 30 };
const searchRows = (rows: readonly FleetRow[], search: string) =>
  filterRows(rows, ({ session }) => isMatch(session, search));

function ids(items: readonly Item[]): string[] {
  return items.map((item) =>
    item.kind === "row" ? item.row.session.session_id : `# ${item.group} ${item.count}`,
  );
}

/** Any order of depths that a tree can have. */
const trees = fc
  .array(fc.record({ down: fc.nat(3), name: fc.constantFrom("ant", "bee", "cat"), waits: fc.boolean() }), {
    maxLength: 40,
  })
  .map((nodes) => {
    let depth = -1;
    return nodes.map(({ down, name, waits }, at): FleetRow => {
      depth = Math.max(0, depth + 1 - down);
      return fleetRow(`s${at}`, depth, { name, ...(waits ? { pending_requests: 1 } : {}) });
    });
  });

describe("searching the list", () => {
  test("keeps what matches and those above it, and nothing else", () => {
    const rows = [
      fleetRow("root", 0, { name: "fleet" }),
      fleetRow("left", 1, { name: "other" }),
      fleetRow("leaf", 2, { name: "Billing fix" }),
      fleetRow("right", 1, { name: "another" }),
      fleetRow("alone", 0, { name: "alone" }),
    ];
    const found = searchRows(rows, "  BILLING fix ").map(({ session }) => session.session_id);
    expect(found).toEqual(["root", "left", "leaf"]);
  });

  test("finds by directory, model, agent and last action, and wants every word", () => {
    const rows = [
      fleetRow("a", 0, { cwd: "/srv/shop", model: "opus" }),
      fleetRow("b", 0, { cwd: "/srv/shop" }),
    ];
    expect(searchRows(rows, "shop opus")).toHaveLength(1);
    expect(searchRows(rows, "shop gone")).toHaveLength(0);
  });

  test("takes the beginning of an id, not its middle", () => {
    expect(isMatch(sessionView("ab51"), "AB5")).toBe(true);
    expect(isMatch(sessionView("ab51"), "51")).toBe(false);
  });

  test("leaves no row without the one above it, in any tree", () => {
    fc.assert(
      fc.property(trees, fc.constantFrom("ant", "bee", "s1", ""), (rows, search) => {
        const kept = searchRows(rows, search);
        for (const [at, { depth }] of kept.entries())
          expect(depth === 0 || kept.slice(0, at).some((row) => row.depth === depth - 1)).toBe(true);
        const matching = rows.filter(({ session }) => isMatch(session, search));
        for (const row of matching) expect(kept).toContain(row);
      }),
    );
  });
});

describe("the groups of the list", () => {
  test("puts a family under what the most pressing of it does, waiting first", () => {
    const rows = [
      fleetRow("quiet"),
      fleetRow("boss"),
      fleetRow("asks", 1, { pending_requests: 2, activity_state: "waiting_permission" }),
      fleetRow("busy", 0, { activity_state: "thinking" }),
      fleetRow("over", 0, { activity_state: "stopped" }),
    ];
    expect(ids(groupRows(rows, NONE))).toEqual([
      ...["# waiting 1", "boss", "asks", "# working 1", "busy", "# idle 1", "quiet", "# stopped 1", "over"],
    ]);
  });

  test("hides what is below a folded row, and says how much", () => {
    const rows = [fleetRow("a"), fleetRow("b", 1), fleetRow("c", 2), fleetRow("d", 1), fleetRow("e")];
    const items = groupRows(rows, new Set(["a"]));
    expect(ids(items)).toEqual(["# idle 2", "a", "e"].map((id) => id.replace("idle 2", "idle 5")));
    expect(items[1]).toMatchObject({ children: 3, isFolded: true });
    expect(ids(groupRows(rows, new Set(["b"])))).toEqual(["# idle 5", "a", "b", "d", "e"]);
  });

  test("shows every row exactly once, in any tree", () => {
    fc.assert(
      fc.property(trees, (rows) => {
        const shown = groupRows(rows, NONE).flatMap((item) => (item.kind === "row" ? [item.row] : []));
        expect(new Set(shown)).toEqual(new Set(rows));
        expect(shown).toHaveLength(rows.length);
      }),
    );
  });
});

describe("what is in sight", () => {
  const items = groupRows(
    Array.from({ length: 500 }, (_, at) => fleetRow(`s${at}`)),
    NONE,
  );

  test("is a few rows of many, at any scroll position", () => {
    fc.assert(
      fc.property(fc.nat(26_000), fc.integer({ min: 100, max: 1200 }), (top, height) => {
        const { first, last, before, total } = findWindow(items, HEIGHTS, { top, height });
        expect(total).toBe(500 * 50 + 30);
        expect(last - first).toBeLessThanOrEqual(height / 50 + 20);
        expect(before).toBe(findOffset(items, HEIGHTS, first));
        if (top <= total) expect(before).toBeLessThanOrEqual(top);
        const end = findOffset(items, HEIGHTS, last);
        if (top + height <= total) expect(end).toBeGreaterThanOrEqual(top + height);
      }),
    );
  });

  test("is nothing of an empty list", () => {
    expect(findWindow([], HEIGHTS, { top: 0, height: 100 })).toEqual({
      first: 0,
      last: 0,
      before: 0,
      total: 0,
    });
  });
});

describe("moving through the list", () => {
  const items = groupRows(
    [fleetRow("a"), fleetRow("b"), fleetRow("c", 0, { activity_state: "stopped" })],
    NONE,
  );

  test("steps over headings and stops at both ends", () => {
    expect(stepFrom(items, "b", 1)).toBe("c");
    expect(stepFrom(items, "c", 1)).toBe("c");
    expect(stepFrom(items, "a", -1)).toBe("a");
    expect(stepFrom(items, "a", 99)).toBe("c");
  });

  test("starts at an end when nothing is chosen, or the chosen one is gone", () => {
    expect(stepFrom(items, undefined, 1)).toBe("a");
    expect(stepFrom(items, "gone", -1)).toBe("c");
    expect(stepFrom([], undefined, 1)).toBeUndefined();
  });
});

describe("the sums of the fleet", () => {
  test("counts working sessions, tokens and cost, and finds the first request of each session", () => {
    const row = (request_id: string, session_id: string, title: string) =>
      ({ request_id, session_id, payload: { title, choices: [] } }) as never;
    const fleet = {
      sessions: new Map([
        [
          "a",
          sessionView("a", {
            activity_state: "working",
            usage: { input_tokens: 5, output_tokens: 2 },
            cost_usd: 1,
          }),
        ],
        ["b", sessionView("b", { cost_usd: 0.5 })],
      ]),
      requests: new Map([
        ["r1", row("r1", "b", "first")],
        ["r2", row("r2", "b", "second")],
      ]),
      link: { state: "live" as const },
    };
    expect(countTotals(fleet)).toEqual({ sessions: 2, asking: 2, working: 1, tokens: 7, cost_usd: 1.5 });
    expect(summarizeRequests(fleet)).toEqual(new Map([["b", "first"]]));
  });
});

describe("the place of a row, for screen readers", () => {
  test("counts those with the same parent, roots over all groups, and never the headings", () => {
    const rows = [
      fleetRow("a", 0, { pending_requests: 1 }),
      fleetRow("a1", 1),
      fleetRow("a2", 1),
      fleetRow("a21", 2),
      fleetRow("b", 0, { activity_state: "stopped" }),
    ];
    const places = groupRows(rows, NONE).flatMap((item) =>
      item.kind === "row" ? [[item.row.session.session_id, item.place.at, item.place.of]] : [],
    );
    expect(places).toEqual([
      ["a", 1, 2],
      ["a1", 1, 2],
      ["a2", 2, 2],
      ["a21", 1, 1],
      ["b", 2, 2],
    ]);
  });
});
