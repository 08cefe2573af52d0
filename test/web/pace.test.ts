// How often a session is drawn.
import { describe, expect, test } from "vitest";
import { Pace, type Timing } from "../../web/src/session/pace.ts";

/** A clock that a test turns; a frame comes every 16 ms. */
class Clock implements Timing {
  #nowMs = 0;
  #jobs: { atMs: number; run: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  after(ms: number, run: () => void): () => void {
    const job = { atMs: this.#nowMs + ms, run };
    this.#jobs.push(job);
    return () => {
      this.#jobs = this.#jobs.filter((each) => each !== job);
    };
  }

  frame(run: () => void): () => void {
    return this.after(16 - (this.#nowMs % 16), run);
  }

  /** Something that keeps the page busy. */
  spend(ms: number): void {
    this.#nowMs += ms;
  }

  runTo(atMs: number): void {
    for (;;) {
      const next = this.#jobs.toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined || next.atMs > atMs) break;
      this.#jobs = this.#jobs.filter((each) => each !== next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.run();
    }
    this.#nowMs = Math.max(this.#nowMs, atMs);
  }
}

/** Something new every 2 ms for a second; how often it was drawn. */
function flood(drawMs: number): number {
  const clock = new Clock();
  let drawn = 0;
  const pace = new Pace(() => {
    drawn += 1;
    clock.spend(drawMs);
  }, clock);
  for (let atMs = 0; atMs < 1_000; atMs += 2) {
    clock.runTo(atMs);
    pace.want();
  }
  return drawn;
}

describe("the pace", () => {
  test("the first is drawn with the next frame, and the last is never left out", () => {
    const clock = new Clock();
    const drawn: number[] = [];
    const pace = new Pace(() => drawn.push(clock.nowMs()), clock);
    pace.want();
    clock.runTo(20);
    expect(drawn).toEqual([16]);
    pace.want();
    clock.runTo(1_000);
    expect(drawn).toHaveLength(2);
  });

  test("a flood is drawn a dozen times a second, and less often where drawing is slow", () => {
    expect(flood(1)).toBeGreaterThanOrEqual(12);
    expect(flood(1)).toBeLessThanOrEqual(17);
    expect(flood(40)).toBeLessThanOrEqual(5);
    expect(flood(300)).toBeGreaterThanOrEqual(2);
  });

  test("nothing is drawn after its end", () => {
    const clock = new Clock();
    let drawn = 0;
    const pace = new Pace(() => {
      drawn += 1;
    }, clock);
    pace.want();
    pace.close();
    clock.runTo(1_000);
    expect(drawn).toBe(0);
  });
});
