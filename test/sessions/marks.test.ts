// Labels and the archive: stored with the session, and nothing is lost by them.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CodedError } from "../../src/base/coded-error.ts";
import { MAX_LABELS } from "../../src/protocol/session.ts";

import { askOf, atEndOfTest, Ear, FakeStore, gate, rowOf, settle, user } from "./fakes.ts";
import { runOf, spawn, type World, world } from "./system.ts";

const idsOf = async (on: World, filter: Parameters<World["manager"]["views"]>[0]) =>
  (await on.manager.views(filter)).sessions.map(({ session_id }) => session_id).sort();

async function done(on: World, session_id: string): Promise<void> {
  await settle();
  runOf(on, session_id).result();
  await settle(20);
}

test("labels are given at the start, changed, stored sorted, and bounded", async () => {
  const on = await world();
  await spawn(on, "a", { labels: ["ui", "bug", "ui"] });
  expect(await on.manager.view("a")).toMatchObject({ labels: ["bug", "ui"] });
  const changed = await on.manager.mark("a", { add_labels: ["api"], remove_labels: ["ui", "none"] });
  expect(changed.labels).toEqual(["api", "bug"]);
  expect(on.store.saved.get("a")?.labels).toEqual(["api", "bug"]);
  const many = Array.from({ length: MAX_LABELS }, (_, n) => `l${n}`);
  await expect(on.manager.mark("a", { add_labels: many })).rejects.toMatchObject({ code: "invalid_message" });
  expect((await on.manager.view("a")).labels).toEqual(["api", "bug"]);
  const bare = await on.manager.mark("a", { remove_labels: ["api", "bug"] });
  expect(bare).not.toHaveProperty("labels");
});

test("marks that the disk refused are taken back, each on its own", async () => {
  const on = await world();
  await spawn(on, "a", { name: "old", labels: ["kept"] });
  await done(on, "a");
  const disk = gate();
  on.store.held = disk.passed;
  on.store.failing = true;
  const changes = [
    { name: "new" },
    { add_labels: ["x"], archived: true },
    { name: "newer", add_labels: ["y"] },
  ];
  const marked = changes.map((change) => expect(on.manager.mark("a", change)).rejects.toThrow());
  await settle();
  expect(on.hub.table.row("a")).toMatchObject({ name: "newer", labels: ["kept", "x", "y"] });
  disk.open();
  await Promise.all(marked);
  const row = on.hub.table.row("a");
  expect(row).toMatchObject({ name: "old", labels: ["kept"] });
  expect(row?.archived_at_ms).toBeUndefined();
});

test("a session at work is not archived, and archiving twice keeps the first time", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  await expect(on.manager.mark("a", { archived: true })).rejects.toMatchObject({ code: "session_busy" });
  runOf(on, "a").ask(askOf("one"));
  await settle();
  await expect(on.manager.mark("a", { archived: true })).rejects.toMatchObject({ code: "session_busy" });
  await on.manager.stop("a", { tree: false });
  const { archived_at_ms } = await on.manager.mark("a", { archived: true });
  expect(archived_at_ms).toBeGreaterThan(0);
  expect((await on.manager.mark("a", { archived: true })).archived_at_ms).toBe(archived_at_ms);
  expect(await on.manager.mark("a", { archived: false })).not.toHaveProperty("archived_at_ms");
});

test("using an archived session brings it back: a message, a client that opens it", async () => {
  const on = await world();
  for (const id of ["sent", "opened", "kept"]) {
    await spawn(on, id);
    await done(on, id);
    await on.manager.mark(id, { archived: true });
  }
  expect(await idsOf(on, { archived: true })).toEqual(["kept", "opened", "sent"]);
  expect(await idsOf(on, { archived: false })).toEqual([]);
  await on.manager.input({ session_id: "sent", message: user("go on") });
  await on.hub.open({ id: "ann" }, new Ear(), { session_id: "opened", backend: "fake", resume: true });
  await settle();
  expect(await idsOf(on, {})).toEqual(["kept", "opened", "sent"]);
  expect(await idsOf(on, { archived: true })).toEqual(["kept"]);
  expect(on.store.saved.get("sent")).not.toHaveProperty("archived_at_ms", expect.any(Number));
});

test("a message that the disk refused leaves the session archived", async () => {
  const on = await world();
  await spawn(on, "a");
  await done(on, "a");
  const { archived_at_ms } = await on.manager.mark("a", { archived: true });
  on.store.failing = true;
  await expect(on.manager.input({ session_id: "a", message: user("no") })).rejects.toBeInstanceOf(CodedError);
  expect(on.hub.table.row("a")?.archived_at_ms).toBe(archived_at_ms);
});

test("lists are filtered by project, labels, failure, age and cost, also where sessions are only stored", async () => {
  const store = new FakeStore();
  const failed = { turn_id: "t", subtype: "error_backend_crashed", ended_at_ms: 5 };
  const rows = [
    rowOf("shop", { project: "/w/shop", cwd: "/w/shop/src", labels: ["bug", "ui"], last_active_at_ms: 10 }),
    rowOf("twin", { project: "/x/shop", labels: ["bug"], last_active_at_ms: 20, cost_usd: 2 }),
    rowOf("plain", { cwd: "/w/api", last_active_at_ms: 30, last_result: failed, cost_usd: 0.5 }),
  ];
  for (const row of rows) await store.saveRow(row);
  const on = await world({ store });
  const expected: [Parameters<World["manager"]["views"]>[0], string[]][] = [
    [{ project: "shop" }, ["shop", "twin"]],
    [{ project: "/w/shop" }, ["shop"]],
    [{ project: "hop" }, []],
    [{ project: "api" }, ["plain"]],
    [{ labels: ["bug"] }, ["shop", "twin"]],
    [{ labels: ["bug", "ui"] }, ["shop"]],
    [{ failed: true }, ["plain"]],
    [{ failed: false }, ["shop", "twin"]],
    [{ active_after_ms: 20 }, ["plain", "twin"]],
    [{ active_before_ms: 20 }, ["shop"]],
    [{ min_cost_usd: 1 }, ["twin"]],
    [{ min_cost_usd: 0 }, ["plain", "twin"]],
  ];
  for (const [filter, ids] of expected) expect(await idsOf(on, filter)).toEqual(ids);
});

test("a session in a directory of a repository, or in a worktree of it, belongs to the repository", async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "project-")));
  atEndOfTest(() => rmSync(home, { recursive: true, force: true }));
  const root = join(home, "shop");
  const linked = join(home, "elsewhere", "fix");
  const gitDir = join(root, ".git");
  const ownDir = join(gitDir, "worktrees", "fix");
  for (const dir of ["refs", "objects"]) mkdirSync(join(gitDir, dir), { recursive: true });
  for (const dir of [join(root, "src"), linked, ownDir, join(home, "plain")])
    mkdirSync(dir, { recursive: true });
  writeFileSync(join(gitDir, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(ownDir, "HEAD"), "ref: refs/heads/fix\n");
  writeFileSync(join(ownDir, "commondir"), "../..\n");
  writeFileSync(join(linked, ".git"), `gitdir: ${ownDir}\n`);
  const on = await world();
  const places = { in: join(root, "src"), linked, plain: join(home, "plain"), gone: join(home, "gone") };
  for (const [id, cwd] of Object.entries(places)) await spawn(on, id, { cwd });
  const projects = Object.fromEntries(
    (await on.manager.views({})).sessions.map(({ session_id, project }) => [session_id, project]),
  );
  expect(projects).toEqual({ in: root, linked: root, plain: places.plain, gone: places.gone });
});
