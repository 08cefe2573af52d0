// Which changes of the list notify.
import { expect, test } from "vitest";
import type { SessionView } from "../../../src/client/view/types.ts";
import { detectFleetNotifications } from "../../../src/tui/notify/fleet-notifications.ts";
import { aFleet, TURN } from "../fleet/fleet-world.ts";

const result = (turn_id: string, subtype = "success") => ({ turn_id, subtype, ended_at_ms: 0 });
const kinds = (before: Partial<SessionView>, after: Partial<SessionView>): string[] =>
  detectFleetNotifications(aFleet(before), aFleet(after)).map(({ kind }) => kind);

test("a new pending request notifies, one that is still pending does not", () => {
  expect(kinds({}, { pending_requests: 1 })).toEqual(["waits"]);
  expect(kinds({ pending_requests: 1 }, { pending_requests: 2 })).toEqual(["waits"]);
  expect(kinds({ pending_requests: 1 }, { pending_requests: 1 })).toEqual([]);
  expect(kinds({ pending_requests: 1 }, {})).toEqual([]);
});

test("the end of a turn notifies once, with its outcome", () => {
  expect(kinds({ turn: TURN }, { last_result: result("t1") })).toEqual(["done"]);
  expect(kinds({ turn: TURN }, { last_result: result("t1", "error") })).toEqual(["failed"]);
  expect(kinds({ last_result: result("t1") }, { last_result: result("t1"), turns: 2 })).toEqual([]);
});

test("an interrupted turn does not notify, nor does one followed by a queued message", () => {
  expect(kinds({ turn: TURN }, { last_result: result("t1", "interrupted") })).toEqual([]);
  expect(kinds({ turn: TURN }, { last_result: result("t1"), queued: 1 })).toEqual([]);
});

test("the first list does not notify, nor does a list read after a restart", () => {
  const waiting = aFleet({ pending_requests: 1 });
  const connecting = { ...aFleet(), link: { state: "connecting" } as const };
  const lost = { ...aFleet({}), link: { state: "lost" } as const };
  expect(detectFleetNotifications(connecting, waiting)).toEqual([]);
  expect(detectFleetNotifications(lost, waiting)).toEqual([]);
});

test("it uses the session's name, in one line without control characters", () => {
  const [news] = detectFleetNotifications(
    aFleet({}),
    aFleet({ name: "a\n\u001b]0;x\u0007", pending_requests: 1 }),
  );
  expect(news?.text).toBe("a \\x1b]0;x\\x07 is waiting for you");
});
