import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { FileCache } from "../../src/base/file-cache.ts";

const dir = mkdtempSync(join(tmpdir(), "file-cache-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("loads once for a file, and again when it changes or another file is asked for", async () => {
  const cache = new FileCache<number>();
  const path = join(dir, "a");
  let count = 0;
  const get = (file = path) => cache.get(file, async () => ++count);
  writeFileSync(path, "x");
  expect(await Promise.all([get(), get()])).toEqual([1, 1]);
  utimesSync(path, 1, 1);
  expect([await get(), await get()]).toEqual([2, 2]);
  expect([await get(join(dir, "missing")), await get()]).toEqual([3, 4]);
});

test("does not cache a failure", async () => {
  const cache = new FileCache<string>();
  await expect(cache.get(dir, () => Promise.reject(new Error("slow disk")))).rejects.toThrow("slow disk");
  expect(await cache.get(dir, async () => "fine")).toBe("fine");
});
