// What waits between a client's socket and its handlers.
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { Intake } from "../../../src/servers/socket/intake.ts";

function setUp(room: number) {
  const handled: number[] = [];
  const switches: string[] = [];
  const state = { room };
  const socket = { pause: () => switches.push("pause"), resume: () => switches.push("resume") };
  const intake = new Intake<number>({
    socket: socket as unknown as Socket,
    hasRoom: () => state.room > 0,
    handle: (line) => {
      handled.push(line);
      state.room -= 1;
    },
  });
  return { intake, handled, switches, state };
}

test("a line is handled at once while there is room, and the socket is left alone", () => {
  const { intake, handled, switches } = setUp(5);
  for (const line of [1, 2, 3]) intake.push(line);
  expect([handled, switches]).toEqual([[1, 2, 3], []]);
});

test("without room the socket is paused once, and lines that were already read wait in order", () => {
  const { intake, handled, switches, state } = setUp(2);
  for (const line of [1, 2, 3, 4, 5]) intake.push(line);
  expect([handled, switches, intake.isEmpty]).toEqual([[1, 2], ["pause"], false]);
  state.room = 2;
  intake.advance();
  expect([handled, switches]).toEqual([[1, 2, 3, 4], ["pause"]]);
  state.room = 2;
  intake.advance();
  expect([handled, switches, intake.isEmpty]).toEqual([[1, 2, 3, 4, 5], ["pause", "resume"], true]);
});

test("a closed intake handles nothing more and leaves the socket to its owner", () => {
  const { intake, handled, switches, state } = setUp(1);
  for (const line of [1, 2]) intake.push(line);
  intake.close();
  state.room = 9;
  intake.advance();
  intake.push(3);
  expect([handled, switches, intake.isEmpty]).toEqual([[1], ["pause"], true]);
});
