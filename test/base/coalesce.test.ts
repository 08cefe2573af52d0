import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Coalescer, LARGE_BYTES, REST_MS } from "../../src/base/coalesce.ts";

/** Lines are written at fixed times; a paused source keeps them until it is resumed, as a kernel does. */
class FakeSource {
  readonly reads: Array<{ at: number; delay: number; lines: number }> = [];
  readonly coalescer = new Coalescer(this, () => Date.now());
  #isPaused = false;
  #written: number[] = [];
  #bytes = 0;

  write(bytes: number): void {
    this.#written.push(Date.now());
    this.#bytes += bytes;
    this.#read();
  }
  pause(): void {
    this.#isPaused = true;
  }
  resume(): void {
    this.#isPaused = false;
    this.#read();
  }
  #read(): void {
    const first = this.#written[0];
    if (this.#isPaused || first === undefined) return;
    const [lines, bytes] = [this.#written.length, this.#bytes];
    this.#written = [];
    this.#bytes = 0;
    this.reads.push({ at: Date.now(), delay: Date.now() - first, lines });
    this.coalescer.note(bytes);
  }
}

async function play(source: FakeSource, count: number, everyMs: number, bytes: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    source.write(bytes);
    if (everyMs > 0) await vi.advanceTimersByTimeAsync(everyMs);
  }
  await vi.advanceTimersByTimeAsync(50);
}

describe("Coalescer", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("a source of 200 small chunks a second is never held back", async () => {
    const source = new FakeSource();
    await play(source, 200, 5, 300);
    expect(source.reads).toHaveLength(200);
    expect(Math.max(...source.reads.map((read) => read.delay))).toBe(0);
  });

  test("a busy source of small chunks is read in batches, none later than its pause", async () => {
    const source = new FakeSource();
    await play(source, 1000, 1, 300);
    expect(source.reads.length).toBeLessThan(300);
    expect(Math.max(...source.reads.map((read) => read.delay))).toBeLessThanOrEqual(REST_MS);
    expect(source.reads.reduce((sum, read) => sum + read.lines, 0)).toBe(1000);
  });

  test("big chunks at full speed are never held back", async () => {
    const source = new FakeSource();
    await play(source, 100, 0, LARGE_BYTES);
    expect(source.reads).toHaveLength(100);
  });

  test("the first chunk after a quiet time is delivered at once, also after a busy time", async () => {
    const source = new FakeSource();
    await play(source, 100, 1, 300);
    source.write(300);
    expect(source.reads.at(-1)).toMatchObject({ delay: 0, lines: 1 });
  });

  test("a message and its result, two or three chunks, are not yet a busy source", async () => {
    const source = new FakeSource();
    for (let n = 0; n < 4; n += 1) source.write(300);
    expect(source.reads).toHaveLength(4);
  });

  test("the answer to a message is delivered at once, also in the pause of a busy source", async () => {
    const source = new FakeSource();
    for (let n = 0; n < 6; n += 1) source.write(300);
    const before = source.reads.length;
    source.coalescer.expect();
    expect(source.reads).toHaveLength(before + 1);
    for (let n = 0; n < 3; n += 1) source.write(300);
    expect(source.reads).toHaveLength(before + 4);
  });

  test("a consumer that pauses is not resumed by a message", async () => {
    const source = new FakeSource();
    for (let n = 0; n < 6; n += 1) source.write(300);
    source.coalescer.hold();
    const before = source.reads.length;
    source.coalescer.expect();
    expect(source.reads).toHaveLength(before);
  });

  test("a consumer that pauses is not resumed when the batching pause ends", async () => {
    const source = new FakeSource();
    for (let n = 0; n < 6; n += 1) source.write(300);
    source.coalescer.hold();
    await vi.advanceTimersByTimeAsync(50);
    const before = source.reads.length;
    source.write(300);
    expect(source.reads).toHaveLength(before);
    source.coalescer.release();
    expect(source.reads.at(-1)?.lines).toBeGreaterThanOrEqual(1);
  });
});
