// The table of limits: what agents report, and which window blocks.
import { expect, test } from "vitest";
import {
  findBlock,
  listWindows,
  noteLimits,
  noteRetry,
  toWindows,
} from "../../src/sessions/quota/windows.ts";

const ACCOUNT = { backend: "claude", account: "default" };
const NOW = 1_000_000;
const note = (data: Parameters<typeof noteLimits>[2]) => noteLimits(new Map(), ACCOUNT, data, NOW);

test("windows are named by the agent, or by their length", () => {
  const windows = note({
    limit: { window_minutes: 300, used_percent: 12 },
    secondary_limit: { window_minutes: 10_080, used_percent: 40 },
    limits: [{ window: "7d opus", used_percent: 3 }],
  });
  expect(listWindows(windows, NOW).map(({ window }) => window)).toEqual(["7d opus", "5h", "7d"]);
});

test("the exhausted window that is reset last blocks its account, and no other, until then", () => {
  const windows = note({
    limits: [
      { window: "5h", used_percent: 100, resets_at_ms: NOW + 10 },
      { window: "7d", status: "rejected", resets_at_ms: NOW + 20 },
      { window: "7d opus", used_percent: 99, resets_at_ms: NOW + 30 },
    ],
  });
  expect(findBlock(windows, ACCOUNT, NOW)).toEqual({ resets_at_ms: NOW + 20, window: "7d" });
  expect(findBlock(windows, ACCOUNT, NOW + 20)).toBeUndefined();
  expect(findBlock(windows, { ...ACCOUNT, account: "other" }, NOW)).toBeUndefined();
});

test("a later report ends a block, also before its reset; the same report changes nothing", () => {
  const limit = { window: "5h", status: "rejected", resets_at_ms: NOW + 10 };
  const blocked = note({ limit });
  expect(noteLimits(blocked, ACCOUNT, { limit }, NOW + 1)).toBe(blocked);
  const free = noteLimits(blocked, ACCOUNT, { limit: { ...limit, status: "allowed" } }, NOW + 1);
  expect(findBlock(free, ACCOUNT, NOW + 1)).toBeUndefined();
});

test("the list of an event says more than its single limit of the same window", () => {
  const windows = note({
    limit: { window: "5h", status: "rejected", resets_at_ms: NOW + 10 },
    limits: [{ window: "5h", used_percent: 100, status: "rejected", resets_at_ms: NOW + 10 }],
  });
  expect(listWindows(windows, NOW)).toMatchObject([{ window: "5h", used_percent: 100, reached: true }]);
});

test("after its reset a window is shown without its figures, and a refused request not at all", () => {
  const windows = noteRetry(
    note({ limit: { window: "5h", used_percent: 100, resets_at_ms: NOW + 10 } }),
    ACCOUNT,
    NOW + 10,
    NOW,
  );
  expect(listWindows(windows, NOW)).toHaveLength(2);
  const [after, ...others] = listWindows(windows, NOW + 11);
  expect(others).toEqual([]);
  expect(after).not.toHaveProperty("used_percent");
  expect(after).not.toHaveProperty("reached");
});

test("it is the same after a restart", () => {
  const windows = note({ limit: { window: "5h", used_percent: 100, resets_at_ms: NOW + 10 } });
  expect(listWindows(toWindows(listWindows(windows, NOW), NOW), NOW)).toEqual(listWindows(windows, NOW));
});
