// Days in time zones: every moment is in exactly one, also when clocks change.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addDays, createNamer, findDayStart, isTimeZone, listDays } from "../../src/base/days.ts";

const HOUR_MS = 3_600_000;
const utc = (text: string): number => Date.parse(`${text}Z`);

test.each([
  ["UTC", "2026-05-03", "2026-05-03T00:00"],
  ["Europe/Berlin", "2026-05-03", "2026-05-02T22:00"],
  ["Asia/Kolkata", "2026-05-03", "2026-05-02T18:30"],
  ["Pacific/Kiritimati", "2026-05-03", "2026-05-02T10:00"],
  ["America/Los_Angeles", "2026-05-03", "2026-05-03T07:00"],
  // The clock jumps from 0:00 to 1:00.
  ["America/Santiago", "2026-09-06", "2026-09-06T04:00"],
])("in %s, %s starts at %s UTC", (zone, day, at) => {
  expect(findDayStart(day, createNamer(zone))).toBe(utc(at));
});

test("a day of a changed clock has 23 or 25 hours", () => {
  const days = listDays("Europe/Berlin", utc("2026-03-27T23:00"), utc("2026-03-30T22:00"));
  expect(days.map(({ day, from_ms, to_ms }) => [day, (to_ms - from_ms) / HOUR_MS])).toEqual([
    ["2026-03-28", 24],
    ["2026-03-29", 23],
    ["2026-03-30", 24],
  ]);
});

test("the days of any span follow one another without a gap", () => {
  const zones = fc.constantFrom("UTC", "Europe/Berlin", "America/Santiago", "Pacific/Apia", "Asia/Kathmandu");
  const moment = fc.integer({ min: utc("2010-01-01T00:00"), max: utc("2030-01-01T00:00") });
  fc.assert(
    fc.property(zones, moment, fc.nat(40 * 24 * HOUR_MS), (zone, from, length) => {
      const days = listDays(zone, from, from + length);
      const name = createNamer(zone);
      let at = from;
      for (const { day, from_ms, to_ms } of days) {
        expect([from_ms, name(from_ms), name(to_ms - 1)]).toEqual([at, day, day]);
        at = to_ms;
      }
      expect(at).toBe(from + length);
    }),
    { numRuns: 50 },
  );
});

test("days are counted by the calendar", () => {
  expect([addDays("2024-02-28", 1), addDays("2026-03-01", -1), addDays("2026-12-31", 1)]).toEqual([
    "2024-02-29",
    "2026-02-28",
    "2027-01-01",
  ]);
  expect([isTimeZone("Europe/Berlin"), isTimeZone("Mars/Olympus")]).toEqual([true, false]);
});
