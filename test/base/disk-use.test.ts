import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { measureEntries } from "../../src/base/disk-use.ts";

const ROOM = mkdtempSync(join(tmpdir(), "blemees-use-"));
afterAll(() => rmSync(ROOM, { recursive: true }));

test("each entry has the size of all that is in it, largest first; links are not followed", async () => {
  const place = join(ROOM, "place");
  mkdirSync(join(place, "deep/er"), { recursive: true });
  writeFileSync(join(ROOM, "outside"), "x".repeat(900_000));
  writeFileSync(join(place, "small"), "x".repeat(20_000));
  writeFileSync(join(place, "deep/er/large"), "x".repeat(200_000));
  symlinkSync(join(ROOM, "outside"), join(place, "link"));
  const entries = await measureEntries(place);
  expect(entries.map(({ name }) => name)).toEqual(["deep", "small", "link"]);
  const [deep, small, link] = entries.map(({ bytes }) => bytes);
  expect(deep).toBeGreaterThanOrEqual(200_000);
  expect(deep).toBeLessThan(300_000);
  expect(small).toBeGreaterThanOrEqual(20_000);
  expect(link).toBeLessThan(20_000);
});

test("a directory that does not exist has no entries", async () => {
  expect(await measureEntries(join(ROOM, "nowhere"))).toEqual([]);
});
