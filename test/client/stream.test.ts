import { expect, test } from "vitest";
import { SessionStream } from "../../src/client/stream.ts";

const LOST = { type: "client.message_lost", session_id: "s", message: "send it again" } as const;

test("a message reported lost is not checked again after the next cut", () => {
  const stream = new SessionStream("s", 0, () => undefined);
  stream.beginTurn();
  stream.push(LOST);
  expect(stream.turnFloor).toBeUndefined();
});

test("a message in transit is looked up after a cut", () => {
  const stream = new SessionStream("s", 0, () => undefined);
  stream.beginTurn();
  expect(stream.turnFloor).toBe(0);
});
