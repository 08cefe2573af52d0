// Seconds since boot, without a system call each time.
import { uptime } from "node:os";
import { expect, test, vi } from "vitest";
import { readBootSeconds } from "../../src/base/boot-clock.ts";

test("it agrees with os.uptime(), also after the machine slept", () => {
  expect(readBootSeconds()).toBeCloseTo(uptime(), 0);
  const wokenAt = Date.now() + 3_600_000;
  const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now() - 1_000_000);
  const wall = vi.spyOn(Date, "now").mockReturnValue(wokenAt);
  expect(readBootSeconds()).toBeCloseTo(uptime(), 0);
  clock.mockRestore();
  wall.mockRestore();
});
