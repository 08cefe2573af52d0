// A daemon that dies while its disk refuses writes: the next one records in the history that something is missing.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLosses } from "../../src/store/losses.ts";
import { FakeStore, settle, user } from "./fakes.ts";
import { type World, world } from "./system.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "losses-"));
  path = join(dir, "losses");
});
afterEach(() => rmSync(dir, { recursive: true }));

async function life(store: FakeStore): Promise<World> {
  const losses = openLosses(path);
  return world({ store, losses: () => losses });
}

const pageOf = (on: World, since_seq: number) =>
  on.manager.events({ session_id: "a", since_seq, limit: 100, waitMs: 0 });

test("reports the gap once after a crash during a log failure, and not where nothing was lost", async () => {
  const store = new FakeStore();
  const first = await life(store);
  for (const id of ["a", "b"]) {
    await first.manager.spawn({ backend: "fake", session_id: id, message: user("go") });
    await settle();
  }
  const [run, other] = first.backend.runs;
  run?.say("stored");
  await settle();
  const before = first.hub.table.row("a")?.last_seq ?? 0;
  store.failing = true;
  run?.say("lost");
  run?.result();
  await settle();
  store.failing = false; // and killed before anything was written again
  const second = await life(store);
  await settle();
  const page = await pageOf(second, before);
  expect(page).toMatchObject({ history_gap: true, gap_reason: "persistence_error" });
  expect(page.events[0]?.frame).toMatchObject({
    category: "event_persist_recovered",
    data: { after_seq: before },
  });
  expect(other?.isOver).toBe(false);
  const untouched = await second.manager.events({ session_id: "b", since_seq: 0, limit: 100, waitMs: 0 });
  expect(untouched.history_gap).toBe(false);
  const third = await life(store);
  await settle();
  expect((await pageOf(third, before)).events.filter(isMarker)).toHaveLength(1);
});

test("has nothing to report if the log accepted frames again before the crash", async () => {
  const store = new FakeStore();
  const first = await life(store);
  await first.manager.spawn({ backend: "fake", session_id: "a", message: user("go") });
  await settle();
  store.failing = true;
  first.backend.last.say("lost");
  await settle();
  store.failing = false;
  first.backend.last.say("stored");
  await settle();
  const second = await life(store);
  await settle();
  expect((await pageOf(second, 0)).events.filter(isMarker)).toHaveLength(1);
});

test("is a file of constant size, and foreign content in it is ignored", () => {
  const losses = openLosses(path);
  const { size } = statSync(path);
  for (let n = 0; n < 2_000; n += 1) losses.record(`session-${n}`, n);
  expect(statSync(path).size).toBe(size);
  losses.close();
  const kept = openLosses(path).left;
  expect(kept.get("session-7")).toBe(7);
  expect(kept.size).toBeGreaterThan(500);
  writeFileSync(path, "garbage");
  expect(openLosses(path).left.size).toBe(0);
  expect(readFileSync(path, "utf8").startsWith("{}")).toBe(true);
});

function isMarker({ frame }: { frame: Record<string, unknown> }): boolean {
  return frame["category"] === "event_persist_recovered";
}
