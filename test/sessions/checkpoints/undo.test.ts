import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toAgentActor } from "../../../src/base/actor.ts";
import type { UndoReply } from "../../../src/protocol/changes.ts";
import type { Caller } from "../../../src/sessions/index.ts";
import { openPlace } from "./place.ts";

const agentOf = (session_id: string): Caller => ({
  actor: toAgentActor([session_id]),
  isAgent: true,
  isProven: true,
  wire: "http",
});
const actionsOf = ({ files }: Pick<UndoReply, "files">) =>
  files.map(({ path, action }) => `${action} ${path}`).sort();

test("undo gives the files of the last turn their old content, and is itself a checkpoint", async () => {
  const place = await openPlace();
  await place.turn(() => place.write("a.txt", "first\n"));
  await place.turn(() => {
    place.write("a.txt", "second\n");
    place.write("new.txt", "new\n");
    rmSync(join(place.repo, "b.txt"));
  });
  place.write("mine.txt", "mine\n");
  const reply = await place.on.manager.undo("s", {});
  expect(reply).toMatchObject({
    turn: 2,
    done: true,
    conversation: { rewound: true, turn: 2 },
  });
  expect(actionsOf(reply)).toEqual(["create b.txt", "delete new.txt", "restore a.txt"]);
  expect([place.read("a.txt"), place.read("b.txt"), place.read("mine.txt")]).toEqual([
    "first\n",
    "b\n",
    "mine\n",
  ]);
  expect(existsSync(join(place.repo, "new.txt"))).toBe(false);
  const { n = 0 } = { n: reply.checkpoint };
  const { files } = await place.on.manager.changes("s", { limit: 9, from: n, to: n + 1 });
  expect(files.map(({ path }) => path)).toEqual(["a.txt", "b.txt", "new.txt"]);
});

test("without a turn, the next undo takes the turn before; with one, all later turns too", async () => {
  const place = await openPlace();
  for (const text of ["1\n", "2\n", "3\n"]) await place.turn(() => place.write("a.txt", text));
  expect(await place.on.manager.undo("s", {})).toMatchObject({ turn: 3, done: true });
  expect(place.read("a.txt")).toBe("2\n");
  expect(await place.on.manager.undo("s", { turn: 1 })).toMatchObject({ turn: 1, done: true });
  expect(place.read("a.txt")).toBe("one\ntwo\nthree\n");
  await expect(place.on.manager.undo("s", {})).rejects.toMatchObject({ code: "change_unknown" });
  await place.turn(() => place.write("b.txt", "again\n"));
  expect(await place.on.manager.undo("s", {})).toMatchObject({ turn: 4, done: true });
});

test("a dry run reports and changes nothing, also while a turn runs; undo itself is refused then", async () => {
  const place = await openPlace();
  await place.turn(() => place.write("a.txt", "x\n"));
  const reply = await place.on.manager.undo("s", { dry_run: true });
  expect(reply).toMatchObject({ done: false, files: [{ path: "a.txt", action: "restore" }] });
  expect(place.read("a.txt")).toBe("x\n");
  await place.begin();
  await expect(place.on.manager.undo("s", {})).rejects.toMatchObject({ code: "session_busy" });
  expect(await place.on.manager.undo("s", { dry_run: true })).toMatchObject({ done: false });
  await place.end();
});

test("a file that somebody changed since is refused, and then nothing is undone", async () => {
  const place = await openPlace();
  await place.turn(() => {
    place.write("a.txt", "agent\n");
    place.write("b.txt", "agent\n");
  });
  place.write("a.txt", "me\n");
  const reply = await place.on.manager.undo("s", {});
  expect(reply.done).toBe(false);
  expect(reply.files).toEqual([
    { path: "a.txt", action: "refused", reason: "it was changed after turn 1, not by a turn" },
    { path: "b.txt", action: "restore" },
  ]);
  expect([place.read("a.txt"), place.read("b.txt")]).toEqual(["me\n", "agent\n"]);

  expect(await place.on.manager.undo("s", { files: ["b.txt"] })).toMatchObject({ done: true });
  expect([place.read("a.txt"), place.read("b.txt")]).toEqual(["me\n", "b\n"]);
  expect(await place.on.manager.undo("s", { turn: 1, force: true })).toMatchObject({ done: true });
  expect(place.read("a.txt")).toBe("one\ntwo\nthree\n");
});

test("a file that was changed between turns is refused, although a later turn changed it too", async () => {
  const place = await openPlace();
  await place.turn(() => place.write("a.txt", "agent\n"));
  place.write("a.txt", "agent\nme\n");
  await place.turn(() => place.write("a.txt", "agent\nme\nagent\n"));
  expect(await place.on.manager.undo("s", { turn: 1, dry_run: true })).toMatchObject({
    files: [{ path: "a.txt", action: "refused", reason: "it was changed after turn 1, not by a turn" }],
  });
  expect(await place.on.manager.undo("s", { turn: 2 })).toMatchObject({ done: true });
  expect(place.read("a.txt")).toBe("agent\nme\n");
});

test("what no checkpoint has is refused, also with force", async () => {
  const place = await openPlace({ maxFileBytes: 100 });
  place.write("large", "x".repeat(200));
  await place.turn(() => {
    place.write("large", "y".repeat(200));
    place.write("b.txt", "x\n");
  });
  const reply = await place.on.manager.undo("s", { force: true });
  expect(reply.files).toEqual([
    { path: "b.txt", action: "restore" },
    { path: "large", action: "refused", reason: expect.stringContaining("checkpoint_file_bytes") },
  ]);
  expect(reply.done).toBe(true);
  expect([place.read("b.txt"), place.read("large")]).toEqual(["b\n", "y".repeat(200)]);
});

test("ignored files in the way stay, and what they block is refused", async () => {
  const place = await openPlace();
  writeFileSync(join(place.repo, ".gitignore"), "*.log\n");
  await place.turn(() => {
    rmSync(join(place.repo, "a.txt"));
    mkdirSync(join(place.repo, "a.txt"));
    place.write("a.txt/x", "x\n");
  });
  place.write("a.txt/my.log", "mine\n");
  const reply = await place.on.manager.undo("s", { force: true });
  expect(reply.files).toContainEqual({
    path: "a.txt",
    action: "refused",
    reason: "the directory in its place has a.txt/my.log, which no turn created",
  });
  expect(place.read("a.txt/my.log")).toBe("mine\n");
});

test("nothing outside the work tree is written through a link", async () => {
  const place = await openPlace();
  mkdirSync(join(place.repo, "d"));
  place.write("d/x", "old\n");
  await place.turn(() => rmSync(join(place.repo, "d"), { recursive: true }));
  mkdirSync(join(place.dir, "outside"));
  symlinkSync(join(place.dir, "outside"), join(place.repo, "d"));
  const reply = await place.on.manager.undo("s", { force: true });
  expect(reply).toMatchObject({
    done: false,
    files: [{ path: "d/x", action: "refused", reason: "d is not a directory" }],
  });
  expect(existsSync(join(place.dir, "outside", "x"))).toBe(false);
});

test("the session's own directory stays, even if it is empty then", async () => {
  const place = await openPlace();
  await place.turn(() => {
    mkdirSync(join(place.repo, "deep", "er"), { recursive: true });
    place.write("deep/er/x", "x\n");
  });
  await place.on.manager.undo("s", {});
  expect(existsSync(join(place.repo, "deep"))).toBe(false);
  expect(readFileSync(join(place.repo, ".git", "HEAD"), "utf8")).toContain("refs/heads/main");
});

test("an agent may not undo its own turns, nor those of a sibling", async () => {
  const place = await openPlace();
  await place.turn(() => place.write("a.txt", "x\n"));
  const { manager } = place.on;
  await manager.spawn({ backend: "fake", session_id: "other" });
  for (const own of ["s", "other"]) {
    const agent = manager.as(agentOf(own));
    await expect(agent.undo("s", {})).rejects.toMatchObject({ code: "not_allowed" });
  }
  const other = manager.as(agentOf("other"));
  await expect(other.changes("s", { limit: 1 })).rejects.toMatchObject({ code: "not_allowed" });
  await expect(other.fileChanges("s", { path: "a.txt" })).rejects.toMatchObject({ code: "not_allowed" });
  const self = manager.as(agentOf("s"));
  expect((await self.changes("s", { limit: 1 })).files).toHaveLength(1);
});

test("after an undo that was cut off by the end of the daemon, its files are refused with the reason", async () => {
  const place = await openPlace();
  await place.turn(() => place.write("a.txt", "agent\n"));
  await place.on.manager.undo("s", { files_only: true });
  const records = join(place.dir, "state/checkpoints/s/checkpoints.jsonl");
  const lines = readFileSync(records, "utf8").trim().split("\n");
  writeFileSync(records, `${lines.slice(0, -1).join("\n")}\n`);
  const later = await place.again();
  place.write("a.txt", "half\n");
  const reply = await later.manager.undo("s", { turn: 1 });
  expect(reply).toMatchObject({ done: false, files: [{ path: "a.txt", action: "refused" }] });
  expect(reply.files[0]?.reason).toMatch(/^an undo was interrupted/);
  expect(await later.manager.undo("s", { turn: 1, force: true, files_only: true })).toMatchObject({
    done: true,
  });
  expect(place.read("a.txt")).toBe("one\ntwo\nthree\n");
});

test("a directory of checkpoints that cannot be used is reported as such", async () => {
  const place = await openPlace();
  await place.turn(() => place.write("a.txt", "agent\n"));
  rmSync(join(place.dir, "state/checkpoints/s"), { recursive: true });
  writeFileSync(join(place.dir, "state/checkpoints/s"), "");
  const later = await place.again();
  await expect(later.manager.undo("s", {})).rejects.toMatchObject({
    code: "git_failed",
    message: expect.stringContaining("cannot be read or written"),
  });
});
