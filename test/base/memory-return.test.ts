import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MemoryReturn } from "../../src/base/memory-return.ts";

const MB = 1024 * 1024;
const did: string[] = [];
let memory: MemoryReturn;

function useHeap(heapUsed: number): void {
  vi.spyOn(process, "memoryUsage").mockReturnValue({ heapUsed } as NodeJS.MemoryUsage);
}

beforeEach(() => {
  vi.useFakeTimers();
  useHeap(10 * MB);
  vi.stubGlobal("gc", () => void did.push("collect"));
  did.length = 0;
  memory = new MemoryReturn({ release: () => did.push("release"), trim: () => did.push("trim") });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test("after a burst of work, and some quiet, memory is released, collected and given back, once", () => {
  for (let mb = 1; mb <= 20; mb += 1) {
    memory.note(mb * MB);
    vi.advanceTimersByTime(200);
  }
  expect(did).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(did).toEqual(["release", "collect", "trim"]);
  memory.note(21 * MB);
  vi.advanceTimersByTime(10_000);
  expect(did).toHaveLength(3);
});

test("a little work leaves nothing to give back", () => {
  memory.note(MB);
  vi.advanceTimersByTime(10_000);
  expect(did).toEqual([]);
});

test("a large heap is left to V8: collecting it would take too long", () => {
  useHeap(500 * MB);
  memory.note(20 * MB);
  vi.advanceTimersByTime(1000);
  expect(did).toEqual(["release", "trim"]);
});

test("closed, it does nothing", () => {
  memory.note(20 * MB);
  memory.close();
  vi.advanceTimersByTime(10_000);
  expect(did).toEqual([]);
});
