// What in a change of the list is worth telling.
import { expect, test } from "vitest";
import type { SessionView } from "../../../src/client/view/types.ts";
import { fleetNews } from "../../../src/tui/notify/fleet-news.ts";
import { aFleet, TURN } from "../fleet/fleet-world.ts";

const result = (turn_id: string, subtype = "success") => ({ turn_id, subtype, ended_at_ms: 0 });
const kinds = (before: Partial<SessionView>, after: Partial<SessionView>): string[] =>
  fleetNews(aFleet(before), aFleet(after)).map(({ kind }) => kind);

test("that something begins to wait is told, that it still waits is not", () => {
  expect(kinds({}, { pending_requests: 1 })).toEqual(["waits"]);
  expect(kinds({ pending_requests: 1 }, { pending_requests: 2 })).toEqual(["waits"]);
  expect(kinds({ pending_requests: 1 }, { pending_requests: 1 })).toEqual([]);
  expect(kinds({ pending_requests: 1 }, {})).toEqual([]);
});

test("the end of a turn is told once, with how it ended", () => {
  expect(kinds({ turn: TURN }, { last_result: result("t1") })).toEqual(["done"]);
  expect(kinds({ turn: TURN }, { last_result: result("t1", "error") })).toEqual(["failed"]);
  expect(kinds({ last_result: result("t1") }, { last_result: result("t1"), turns: 2 })).toEqual([]);
});

test("what a person interrupted is no news, nor is an end behind which the next message follows", () => {
  expect(kinds({ turn: TURN }, { last_result: result("t1", "interrupted") })).toEqual([]);
  expect(kinds({ turn: TURN }, { last_result: result("t1"), queued: 1 })).toEqual([]);
});

test("the first list is no news, nor is what is read anew behind a restart", () => {
  const waiting = aFleet({ pending_requests: 1 });
  const connecting = { ...aFleet(), link: { state: "connecting" } as const };
  const lost = { ...aFleet({}), link: { state: "lost" } as const };
  expect(fleetNews(connecting, waiting)).toEqual([]);
  expect(fleetNews(lost, waiting)).toEqual([]);
});

test("it is called by its name, in one line without control characters", () => {
  const [news] = fleetNews(aFleet({}), aFleet({ name: "a\n\u001b]0;x\u0007", pending_requests: 1 }));
  expect(news?.text).toBe("a \\x1b]0;x\\x07 waits for you");
});
