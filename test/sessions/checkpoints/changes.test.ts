import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { PATIENT } from "../../support/patience.ts";
import { settle, user } from "../fakes.ts";
import { runOf, spawn, world } from "../system.ts";
import { openPlace } from "./place.ts";

const ALL = { limit: 100 };

test("each turn has the files that it changed, and edits between turns belong to none", async () => {
  const place = await openPlace();
  await place.turn(() => place.write("a.txt", "one\n2\nthree\n"));
  place.write("mine.txt", "mine\n");
  await place.turn(() => {
    place.write("b.txt", "b\nc\n");
    place.write("new.txt", "new\n");
  });
  const changes = await place.on.manager.changes("s", ALL);
  expect(changes).toMatchObject({ state: "ok", repository: place.repo });
  expect(
    changes.turns.map(({ turn, files, additions, deletions }) => [turn, files, additions, deletions]),
  ).toEqual([
    [1, 1, 1, 1],
    [2, 2, 2, 0],
  ]);
  expect(changes.files.map(({ path, status, turns }) => [path, status, turns])).toEqual([
    ["a.txt", "modified", [1]],
    ["b.txt", "modified", [2]],
    ["mine.txt", "added", []],
    ["new.txt", "added", [2]],
  ]);
  expect(changes.totals).toEqual({ files: 4, additions: 4, deletions: 1 });
  const second = await place.on.manager.changes("s", { ...ALL, turn: 2 });
  expect(second.files.map(({ path }) => path)).toEqual(["b.txt", "new.txt"]);
});

test("pages are in the order of paths and end where there is no next", async () => {
  const place = await openPlace();
  await place.turn(() => {
    for (const name of ["e", "c", "d"]) place.write(name, name);
  });
  const first = await place.on.manager.changes("s", { limit: 2 });
  expect(first.files.map(({ path }) => path)).toEqual(["c", "d"]);
  const rest = await place.on.manager.changes("s", { limit: 2, after: first.next ?? "" });
  expect(rest.files.map(({ path }) => path)).toEqual(["e"]);
  expect(rest.next).toBeUndefined();
  expect(rest.totals.files).toBe(3);
});

test("the hunks of a file, also of a renamed one, one without a line feed and a binary one", async () => {
  const place = await openPlace();
  await place.turn(() => {
    place.git("mv", "a.txt", "moved.txt");
    place.write("moved.txt", "one\ntwo\n3");
    writeFileSync(join(place.repo, "bin"), Buffer.from([0, 1, 2]));
  });
  const { manager } = place.on;
  const { files } = await manager.changes("s", ALL);
  expect(files).toMatchObject([
    { path: "bin", binary: true, bytes: 3 },
    { path: "moved.txt", status: "renamed", old_path: "a.txt", additions: 1, deletions: 1 },
  ]);
  expect(await manager.fileChanges("s", { path: "moved.txt" })).toEqual({
    path: "moved.txt",
    old_path: "a.txt",
    status: "renamed",
    hunks: [
      {
        ...{ old_start: 1, old_lines: 3, new_start: 1, new_lines: 3 },
        lines: [
          { kind: "context", text: "one" },
          { kind: "context", text: "two" },
          { kind: "delete", text: "three" },
          { kind: "add", text: "3", no_newline: true },
        ],
      },
    ],
  });
  expect(await manager.fileChanges("s", { path: "bin" })).toMatchObject({ binary: true, hunks: [] });
  await expect(manager.fileChanges("s", { path: "b.txt" })).rejects.toMatchObject({ code: "change_unknown" });
  await expect(manager.changes("s", { ...ALL, turn: 7 })).rejects.toMatchObject({ code: "change_unknown" });
});

test("a running turn shows its changes up to now", async () => {
  const place = await openPlace();
  await place.begin();
  place.write("a.txt", "x\n");
  const changes = await place.on.manager.changes("s", { ...ALL, turn: 1 });
  expect(changes.files.map(({ path }) => path)).toEqual(["a.txt"]);
  expect(changes.turns[0]).not.toHaveProperty("ended_at_ms");
  await place.end();
});

test("a file over the limit, a lock file and a nested repository are shown as such", async () => {
  const place = await openPlace({ maxFileBytes: 100 });
  place.write("large", "x".repeat(200));
  mkdirSync(join(place.repo, "inner"));
  place.git("init", "-q", "inner");
  await place.turn(() => {
    place.write("large", "x".repeat(201));
    place.write("package-lock.json", "{}\n");
    place.write("a.txt", "y".repeat(300));
  });
  const { files, not_covered } = await place.on.manager.changes("s", ALL);
  expect(files).toMatchObject([
    { path: "a.txt", status: "modified", too_large: true, turns: [1] },
    { path: "large", status: "modified", too_large: true, turns: [1] },
    { path: "package-lock.json", generated: true },
  ]);
  expect(not_covered).toEqual([
    { path: "inner", why: "nested_repository" },
    { path: "a.txt", why: "too_large" },
    { path: "large", why: "too_large" },
  ]);
});

test("outside a repository, without git and if turned off, there is a reason and turns do not wait", async () => {
  const plain = await openPlace({ isRepository: false });
  await plain.turn(() => plain.write("x", "x"));
  expect(await plain.on.manager.changes("s", ALL)).toMatchObject({
    state: "none",
    reason: `${plain.repo} is not in a git repository`,
  });
  expect(existsSync(join(plain.dir, "state"))).toBe(false);

  const gitless = await openPlace({ env: { PATH: "/nonexistent" } });
  await gitless.turn(() => undefined);
  expect((await gitless.on.manager.changes("s", ALL)).reason).toContain("git not found on PATH");

  const off = await world();
  await spawn(off, "s", { cwd: plain.repo });
  await settle();
  runOf(off, "s").result();
  expect((await off.manager.changes("s", ALL)).reason).toContain("turned off");
  await expect(off.manager.undo("s", {})).rejects.toMatchObject({ code: "change_unknown" });
});

test("a turn that the agent starts itself has its changes too", async () => {
  const place = await openPlace();
  await place.turn(() => undefined);
  const run = runOf(place.on, "s");
  run.sink.turnStarted();
  await place.on.manager.changes("s", ALL); // the checkpoint is taken
  place.write("a.txt", "own\n");
  run.result();
  await place.on.manager.wait({ session_id: "s", until: ["idle"], timeoutMs: PATIENT.timeout });
  const { turns } = await place.on.manager.changes("s", ALL);
  expect(turns.map(({ turn, files }) => [turn, files])).toEqual([
    [1, 0],
    [2, 1],
  ]);
});

test("a turn that continues over a restart of the daemon gets its end", async () => {
  const place = await openPlace();
  await place.begin();
  const turn_id = place.on.hub.table.row("s")?.turn?.turn_id ?? "";
  place.write("a.txt", "x\n");
  const later = await place.again();
  later.checkpoints?.onTurnEnd({ session_id: "s", cwd: place.repo }, turn_id);
  later.checkpoints?.onTurnEnd({ session_id: "s", cwd: place.repo }, turn_id);
  const { turns } = await later.manager.changes("s", ALL);
  expect(turns).toMatchObject([{ turn: 1, turn_id, files: 1, ended_at_ms: expect.any(Number) }]);
});

test("a session's checkpoints are deleted with it, and those of no session when the daemon tidies up", async () => {
  const place = await openPlace();
  const root = join(place.dir, "state", "checkpoints");
  await place.turn(() => place.write("a.txt", "x\n"));
  expect(readdirSync(root)).toEqual(["s"]);
  await place.on.manager.remove("s", { tree: false });
  await vi.waitFor(() => expect(readdirSync(root)).toEqual([]), PATIENT);

  for (const id of ["gone", "known"]) mkdirSync(join(root, id, "git"), { recursive: true });
  const exists = async () => new Set(["known"]);
  expect(await place.on.checkpoints?.prune(exists, 1000)).toBe(1);
  expect(readdirSync(root)).toEqual(["known"]);
});

test("a torn last line of the list is dropped", async () => {
  const place = await openPlace();
  await place.turn(() => place.write("a.txt", "x\n"));
  const list = join(place.dir, "state", "checkpoints", "s", "checkpoints.ndjson");
  writeFileSync(list, '{"n":3,"kind":"sta', { flag: "a" });
  const later = await place.again();
  later.checkpoints?.onTurnEnd({ session_id: "s", cwd: place.repo }, "t");
  const { turns } = await later.manager.changes("s", ALL);
  expect(turns.map(({ turn }) => turn)).toEqual([1, 2]);
});

test("a broken git directory of ours is repaired for the next checkpoint", async () => {
  const place = await openPlace();
  await place.turn(() => place.write("a.txt", "x\n"));
  const own = join(place.dir, "state", "checkpoints", "s", "git");
  writeFileSync(join(own, "index"), "garbage");
  await place.on.manager.input({ session_id: "s", message: user("more") });
  await vi.waitFor(() => expect(runOf(place.on, "s").sent).toHaveLength(2), PATIENT);
  await place.end();
  rmSync(join(own, "HEAD"));
  await place.on.manager.input({ session_id: "s", message: user("more") });
  await vi.waitFor(() => expect(runOf(place.on, "s").sent).toHaveLength(3), PATIENT);
  place.write("b.txt", "z\n");
  await place.end();
  const { turns } = await place.on.manager.changes("s", ALL);
  expect(turns.map(({ turn, skipped }) => [turn, skipped !== undefined])).toEqual([
    [1, false],
    [2, true],
    [3, true],
  ]);
});
