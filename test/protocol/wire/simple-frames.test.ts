// Frames that skip the schema are exactly those that the schema accepts as they are.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { INBOUND } from "../../../src/protocol/wire/blemees2.ts";
import { findSimpleType } from "../../../src/protocol/wire/simple-frames.ts";

const user = { type: "agent.user", session_id: "s-1", message: { role: "user", content: "hello" } };
const ping = { type: "blemeesd.ping" };

const VALUES: unknown[] = ["", "s-1", ".s", "a b", "x".repeat(129), 0, null, true, [], {}, ["user"]];
const FRAMES: JsonObject[] = [
  user,
  ping,
  { ...ping, id: "1" },
  ...VALUES.flatMap((value) => [
    { ...user, session_id: value },
    { ...user, message: value },
    { ...user, message: { ...user.message, role: value } },
    { ...user, message: { ...user.message, content: value } },
    { ...user, message: { ...user.message, more: value } },
    { ...user, id: value },
    { ...ping, id: value },
    { ...ping, data: value },
    { ...ping, more: value },
    { ...ping, type: value },
  ]),
  { type: "agent.user", session_id: "s-1" },
  { type: "agent.user", message: user.message },
  { type: "constructor" },
  { type: "toString" },
  {},
];

describe("a frame that skips the schema is accepted by it as it is", () => {
  test.each(FRAMES.map((frame) => [JSON.stringify(frame).slice(0, 120), frame] as const))(
    "%s",
    (_text, frame) => {
      const type = findSimpleType(frame);
      if (type === undefined) return;
      expect(type).toBe(frame["type"]);
      expect(INBOUND[type].parse(frame)).toStrictEqual(frame);
    },
  );

  test("the usual forms skip it", () => {
    const usual = [user, ping, { ...ping, id: "1" }];
    expect(usual.map(findSimpleType)).toEqual(["agent.user", "blemeesd.ping", "blemeesd.ping"]);
  });
});
