// Which turn an event belongs to, wherever a page of the history begins or ends.
import { expect, test } from "vitest";
import { delta, History, result, started, upTo } from "./history.ts";

/** A frame that contains a turn-marking word in another place. */
const about = (word: string) => ({
  type: "agent.notice",
  backend: "fake",
  category: "other",
  data: { word, rest: "x".repeat(100) },
});

test("every event of a turn names it, wherever the page begins or ends", async () => {
  const history = await History.open("sqlite", { ringSize: 3 });
  await history.publish(delta("early"), started("t1"), delta("a"), delta("b"), result("t1"));
  await history.publish(delta("between"), started("t2"), delta("c"));
  const wanted = [null, "t1", "t1", "t1", "t1", null, "t2", "t2"];
  for (let since = 0; since < 8; since += 1) {
    for (let limit = 1; since + limit <= 8; limit += 1) {
      const { events } = await history.read(since, { limit });
      expect(events.map(({ turn_id }) => turn_id)).toEqual(wanted.slice(since, since + limit));
    }
  }
});

test("a turn is found far before its page, and one that is too far from the row", async () => {
  const before = await History.open("sqlite");
  await before.publish(started("long"), ...upTo(3_000).map(() => about("task_started")));
  const history = await before.restart();
  expect((await history.read(2_990)).events.map(({ turn_id }) => turn_id)).toEqual(
    upTo(11).map(() => "long"),
  );
  await history.publish(...upTo(3_000).map((n) => delta(String(n))));
  history.stream.turnMark = undefined;
  expect((await history.read(6_000)).events[0]?.turn_id).toBeNull();
  history.stream.row.turn = { turn_id: "long", started_at_ms: 1 };
  history.stream.turnMark = undefined;
  expect((await history.read(6_000)).events[0]?.turn_id).toBe("long");
});

test("the result of a turn identifies it, for everything before it", async () => {
  const history = await History.open("sqlite");
  await history.publish(
    started("long"),
    ...upTo(4_200).map(String).map(delta),
    result("long"),
    delta("after"),
  );
  const { events } = await history.read(4_199);
  expect(events.map(({ turn_id }) => turn_id)).toEqual(["long", "long", "long", null]);
});
