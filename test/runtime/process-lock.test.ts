// A file that says which process has something open.
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { takeLock } from "../../src/runtime/process-lock.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "demian-lock-"));
  path = join(directory, "lock");
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true, force: true });
});
const long = () => utimesSync(path, new Date(0), new Date(0));

describe("36: advisory lock", () => {
  test("one holder at a time; the other learns who holds it, and what to do", () => {
    const free = takeLock(path, "the thing", { advice: "wait" });
    expect(() => takeLock(path, "the thing", { advice: "wait" })).toThrow(
      `the thing is open in process ${process.pid}; wait`,
    );
    free();
    takeLock(path, "the thing")();
    expect(existsSync(path)).toBe(false);
  });

  test("a process that is gone holds nothing, nor does one whose number another has now", () => {
    const free = takeLock(path, "the thing");
    const { started } = JSON.parse(readFileSync(path, "utf8")) as { started: string };
    free();
    for (const holder of [
      { pid: 4_194_303, started },
      { pid: process.pid, started: "another" },
    ]) {
      writeFileSync(path, JSON.stringify(holder));
      takeLock(path, "the thing")();
    }
  });

  test("a holder that has shown nothing for too long holds nothing, where that is wanted", () => {
    takeLock(path, "the thing");
    long();
    expect(() => takeLock(path, "the thing")).toThrow("is open in process");
    const second = takeLock(path, "the thing", { staleMs: 1000 });
    expect(() => takeLock(path, "the thing", { staleMs: 1000 })).toThrow("is open in process");
    second();
  });

  test("a holder that shows activity keeps it, and one that lost it removes nothing", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const first = takeLock(path, "the thing", { beatMs: 100 });
    long();
    vi.advanceTimersByTime(150);
    expect(() => takeLock(path, "the thing", { staleMs: 60_000 })).toThrow("is open in process");
    long();
    const second = takeLock(path, "the thing", { staleMs: 60_000 });
    const text = readFileSync(path, "utf8");
    first();
    expect(readFileSync(path, "utf8")).toBe(text);
    second();
  });
});
