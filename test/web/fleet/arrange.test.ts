// What the list shows: filters of the text and of the panel together, groups, archived sessions, labels.
import { expect, test } from "vitest";
import type { Fleet } from "../../../src/client/view/fleet.ts";
import type { SessionView } from "../../../src/protocol/views.ts";
import {
  arrangeItems,
  countPicked,
  findFirstMatch,
  type ListChoice,
  listKnown,
} from "../../../web/src/fleet/arrange.ts";
import { filtersPanel } from "../../../web/src/fleet/filters.ts";
import { compareLabels } from "../../../web/src/session/session-head.ts";
import { markupOf } from "../markup.ts";
import { sessionView } from "../support.ts";

const NOW_MS = 1_000_000_000;
const fleetOf = (...sessions: SessionView[]): Fleet => ({
  sessions: new Map(sessions.map((session) => [session.session_id, session])),
  requests: new Map(),
  link: { state: "live" },
});
function shown(fleet: Fleet, choice: Partial<ListChoice> = {}): string[] {
  const items = arrangeItems(
    fleet,
    { arrangement: "newest", text: "", picked: {}, ...choice },
    new Set(),
    NOW_MS,
  );
  return items.map((item) =>
    item.kind === "row"
      ? item.row.session.session_id
      : `# ${item.title} ${item.count}${item.note ? ` (${item.note})` : ""}`,
  );
}

test("archived sessions are not shown, or only they, by the panel or the text", () => {
  const fleet = fleetOf(sessionView("a"), sessionView("b", { archived_at_ms: 1 }));
  expect(shown(fleet)).toEqual(["a"]);
  expect(shown(fleet, { picked: { archived: true } })).toEqual(["b"]);
  expect(shown(fleet, { text: "is:archived" })).toEqual(["b"]);
});

test("what is typed and what is chosen count together, with families above what fits", () => {
  const fleet = fleetOf(
    sessionView("root", { started_at_ms: 3 }),
    sessionView("kid", { parent: "root", failed: true, labels: ["api"] }),
    sessionView("other", { failed: true, started_at_ms: 2 }),
  );
  expect(shown(fleet, { picked: { states: ["failed"] } })).toEqual(["root", "kid", "other"]);
  expect(shown(fleet, { picked: { states: ["failed"] }, text: "#api" })).toEqual(["root", "kid"]);
  expect(shown(fleet, { picked: { states: ["failed"] }, text: "#api nothing" })).toEqual([]);
  expect(countPicked({ states: ["failed"], archived: false })).toBe(1);
});

test("projects are groups with their sums, in an order that holds still", () => {
  const fleet = fleetOf(
    sessionView("a", { project: "/srv/shop", cost_usd: 1.5, started_at_ms: 1 }),
    sessionView("b", { project: "/srv/api", failed: true, started_at_ms: 2 }),
    sessionView("c", { project: "/srv/shop", started_at_ms: 3, last_active_at_ms: 1 }),
  );
  const order = ["# api 1 (1 failed)", "b", "# shop 2 ($1.50)", "c", "a"];
  expect(shown(fleet, { arrangement: "project" })).toEqual(order);
  const active = new Map(fleet.sessions).set(
    "a",
    sessionView("a", { project: "/srv/shop", cost_usd: 1.5, started_at_ms: 1, last_active_at_ms: NOW_MS }),
  );
  expect(shown({ ...fleet, sessions: active }, { arrangement: "project" })).toEqual(order);
});

test("Enter in the filter opens the first session that fits by itself", () => {
  const fleet = fleetOf(
    sessionView("root", { name: "x" }),
    sessionView("kid", { parent: "root", name: "billing" }),
  );
  const items = arrangeItems(fleet, { arrangement: "state", text: "billing", picked: {} }, new Set(), NOW_MS);
  expect(findFirstMatch(items, "billing")).toBe("kid");
});

test("the panel offers what there is, as text", () => {
  const fleet = fleetOf(sessionView("a", { project: "/srv/<b>", labels: ["api"], provider: "demo" }));
  expect(listKnown(fleet)).toEqual({ labels: ["api"], projects: ["/srv/<b>"], agents: ["demo"] });
  const nothing = (): void => undefined;
  const html = markupOf(
    filtersPanel({
      fleet,
      outside: "#/outside",
      arrangement: "state",
      picked: {},
      arrange: nothing,
      pick: nothing,
    }),
  );
  expect(html).toContain("&#60;b&#62;");
  expect(html).not.toContain("<b>");
});

test("labels are compared with what is typed", () => {
  expect(compareLabels("api  #web,next", ["api", "old"])).toEqual({
    add_labels: ["web", "next"],
    remove_labels: ["old"],
  });
  expect(compareLabels("api", ["api"])).toBeUndefined();
  expect(compareLabels("", ["api"])).toEqual({ remove_labels: ["api"] });
});
