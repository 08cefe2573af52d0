// The store's thread, started before the daemon's code is loaded.
// lane: process
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startStoreEarly } from "../../src/daemon/early-store.ts";
import { prepareThreadStore } from "../../src/store/index.ts";
import { row } from "../store/material.ts";
import { type Bundle, bundleWorker } from "../store/worker-bundle.ts";

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleWorker();
});
afterAll(() => bundle.remove());

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "bl-early-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

test("without run directories no thread is started", () => {
  const home = newHome();
  expect(startStoreEarly(bundle.url, { HOME: home })).toBeUndefined();
  mkdirSync(join(home, ".local/state/blemees/runs"), { recursive: true });
  expect(startStoreEarly(bundle.url, { HOME: home })).toBeUndefined();
});

test.each([
  ["in the default place", (home: string) => ({ HOME: home }), ".local/state/blemees"],
  ["below XDG_STATE_HOME", (home: string) => ({ XDG_STATE_HOME: home }), "blemees"],
  ["in the configured directory", (home: string) => ({ BLEMEESD_STATE_DIR: join(home, "mine") }), "mine"],
])(
  "with a run directory %s the thread is started, and opens the store of any place",
  async (_, env, state) => {
    const home = newHome();
    mkdirSync(join(home, state, "runs/one"), { recursive: true });
    const thread = startStoreEarly(bundle.url, env(home));
    if (thread === undefined) throw new Error("no thread was started");
    const store = await prepareThreadStore({ path: join(home, "log.db") }, bundle.url, {}, thread).open();
    await store.saveRow(row("s"));
    expect(await store.loadRow("s")).toMatchObject({ session_id: "s" });
    await store.close();
    expect(thread.threadId).toBe(-1);
  },
);
