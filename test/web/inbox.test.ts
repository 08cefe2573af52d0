// The inbox page and the request below the list, as data: what is shown, and what follows an answer.
import { expect, test } from "vitest";
import type { Fleet } from "../../src/client/view/fleet.ts";
import type { InboxItem } from "../../src/client/view/inbox.ts";
import { toInboxCard } from "../../src/client/view/inbox.ts";
import type { RequestRow } from "../../src/protocol/requests.ts";
import { findNextWaiting, findPeeked } from "../../web/src/fleet/peek.ts";
import { groupRows } from "../../web/src/fleet/rows.ts";
import { findItem, keepItems, stepItem } from "../../web/src/inbox/items.ts";
import { makeIcon } from "../../web/src/notify.ts";
import { allAskersView, askersView } from "../../web/src/session/askers.ts";
import { markupOf } from "./markup.ts";
import { fleetRow, sessionView } from "./support.ts";

function request(request_id: string, session_id = request_id): RequestRow {
  return {
    request_id,
    session_id,
    backend: "demo",
    request_type: "command",
    status: "pending",
    shown_hash: "h",
    requested_at_ms: 1,
    generation: "g",
    payload: { title: "t", choices: [{ decision: "accept" }] },
  };
}
const item = (...ids: string[]): InboxItem => ({ requests: ids.map((id) => request(id)) });

test("an item is shown by any of its requests, and an answered one gives its place to the next", () => {
  const items = [item("a"), item("b", "c"), item("d")];
  expect(findItem(items, "c", 0)).toBe(1);
  expect(findItem(items, "gone", 1)).toBe(1);
  expect(findItem(items.slice(0, 1), "gone", 1)).toBe(0);
  expect(findItem([], "gone", 3)).toBe(0);
  expect([stepItem(items, 0, -1), stepItem(items, 0, 1), stepItem(items, 2, 1)]).toEqual([0, 1, 2]);
});

test("an item is the same object until one of its requests joins, leaves or changes", () => {
  const [a, bc] = [item("a"), item("b", "c")];
  const again = keepItems([a, bc], [{ requests: [...a.requests] }, { requests: bc.requests.slice(0, 1) }]);
  expect(again[0]).toBe(a);
  expect(again[1]).not.toBe(bc);
  const [changed] = keepItems([a], [item("a")]);
  expect(changed).not.toBe(a);
});

test("the names of those who ask for the same are in the head, and all of them once there are many", () => {
  const ids = ["a", "b", "<i>c", "d", "e"];
  const sessions = new Map(ids.map((id) => [id, sessionView(id, { name: `kid-${id}`, cwd: "/srv/shop" })]));
  const textOf = (count: number, view: typeof askersView): string =>
    markupOf(view(toInboxCard(item(...ids.slice(0, count)), sessions))).replace(/<[^>]*>/g, "");
  expect(textOf(1, askersView)).toBe("kid-a (demo) in shop asks to run a command");
  expect(textOf(2, askersView)).toBe("kid-a and kid-b (demo) in shop ask to run a command");
  expect(textOf(5, askersView)).toBe(
    "kid-a, kid-b, kid-&#60;i&#62;c and 2 others (demo) in shop ask to run a command",
  );
  expect(textOf(5, allAskersView as typeof askersView)).toBe(
    "all 5: kid-a, kid-b, kid-&#60;i&#62;c, kid-d, kid-e",
  );
});

test("below the list is the request at the cursor, else of the first row; after an answer, the next one down", () => {
  const rows = ["a", "b", "c"].map((id) => fleetRow(id, 0, id === "b" ? {} : { pending_requests: 1 }));
  const items = groupRows(rows, new Set());
  const fleet: Fleet = {
    sessions: new Map(),
    requests: new Map(["a", "c"].map((id) => [id, request(id)])),
    link: { state: "live" },
  };
  const none = new Set<string>();
  const peeked = (cursor?: string, answered: ReadonlySet<string> = none) =>
    findPeeked(fleet, items, cursor, answered)?.request_id;
  expect([peeked(), peeked("c"), peeked("b"), peeked(undefined, new Set(["a"]))]).toEqual([
    "a",
    "c",
    undefined,
    "c",
  ]);
  expect(findNextWaiting(fleet, items, "a", none)).toBe("c");
  expect(findNextWaiting(fleet, items, "c", none)).toBe("a");
  expect(findNextWaiting(fleet, items, "c", new Set(["a"]))).toBe("c");
});

test("the icon has the number of requests, as far as it can be read", () => {
  expect(makeIcon(3)).toContain(">3</text>");
  expect(makeIcon(12)).toContain(">9+</text>");
});
