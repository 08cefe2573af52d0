import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { PATIENT } from "../../support/patience.ts";
import { settle } from "../fakes.ts";
import { runOf, spawn, textsOf } from "../system.ts";
import { fakeGit, openPlace } from "./place.ts";

/** Counts looks at the work tree; each waits until `go` exists. */
const COUNTED =
  'case "$*" in *ls-files*--others*) echo x >> DIR/looks; while [ ! -e DIR/go ]; do sleep 0.02; done;; esac';
const MANY = 50;

async function openCounted(timeoutMs: number = PATIENT.timeout) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "shared-git-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const place = await openPlace({
    timeoutMs,
    env: { PATH: fakeGit(home, COUNTED.replaceAll("DIR", home)) },
  });
  const looks = join(home, "looks");
  const countLooks = () => (existsSync(looks) ? readFileSync(looks, "utf8").trim().split("\n").length : 0);
  return {
    ...place,
    countLooks,
    go: () => writeFileSync(join(home, "go"), ""),
    hold: () => rmSync(join(home, "go")),
  };
}

const ids = Array.from({ length: MANY }, (_, n) => `s${n}`);

test("50 sessions that start at once share snapshots, and none skips a checkpoint because of the others", async () => {
  const { on, repo, write, countLooks, go } = await openCounted();
  write("a.txt", "changed\n");
  await Promise.all(ids.map((id) => spawn(on, id, { cwd: repo })));
  await vi.waitFor(() => expect(countLooks()).toBe(1), PATIENT);
  go();
  await vi.waitFor(() => {
    for (const id of ids) if (textsOf(runOf(on, id)).length === 0) throw new Error(`${id} waits`);
  }, PATIENT);
  // The first one, those that waited for it, and those that came later.
  expect(countLooks()).toBeLessThan(MANY / 2);
  write("b.txt", "by a turn\n");
  for (const id of ids) runOf(on, id).result();
  for (const id of ids) {
    const { turns, files } = await on.manager.changes(id, { limit: 9 });
    expect([turns.map(({ skipped }) => skipped), files.map(({ path }) => path)]).toEqual([
      [undefined],
      ["b.txt"],
    ]);
    const hunks = await on.manager.fileChanges(id, { path: "b.txt" });
    expect(hunks.hunks[0]?.lines.map(({ text }) => text)).toContain("by a turn");
  }
  expect(countLooks()).toBeLessThan(MANY);
});

test("each keeps what it needs: another session's end takes nothing away", async () => {
  const { on, repo, write, go } = await openCounted();
  write("a.txt", "kept by both\n");
  await Promise.all([
    spawn(on, "x", { cwd: repo }),
    spawn(on, "y", { cwd: repo }),
    spawn(on, "z", { cwd: repo }),
  ]);
  go();
  await vi.waitFor(() => {
    for (const id of ["x", "y", "z"]) if (textsOf(runOf(on, id)).length === 0) throw new Error(`${id} waits`);
  }, PATIENT);
  write("a.txt", "lost\n");
  for (const id of ["x", "y", "z"]) runOf(on, id).result();
  await Promise.all(["x", "y", "z"].map((id) => on.manager.changes(id, { limit: 1 })));
  await on.manager.remove("x", { tree: false });
  await on.manager.remove("y", { tree: false });
  expect(await on.manager.undo("z", {})).toMatchObject({ done: true });
  expect(readFileSync(join(repo, "a.txt"), "utf8")).toBe("kept by both\n");
});

test("a session whose index knows a file that is ignored now does not share", async () => {
  const { on, repo, write, turn, go, hold, countLooks } = await openCounted();
  go();
  write("log.txt", "1\n");
  await turn(() => undefined);
  write(".gitignore", "log.txt\n");
  await turn(() => write("log.txt", "2\n"));
  hold();
  const before = countLooks();
  const others = ["o1", "o2", "o3"];
  await spawn(on, "o1", { cwd: repo });
  await vi.waitFor(() => expect(countLooks()).toBe(before + 1), PATIENT);
  // These wait for the next one.
  await Promise.all(["o2", "o3"].map((id) => spawn(on, id, { cwd: repo })));
  await on.manager.input({ session_id: "s", message: { role: "user", content: "next" } });
  await settle(50);
  go();
  await vi.waitFor(() => {
    for (const id of others) if (textsOf(runOf(on, id)).length === 0) throw new Error(`${id} waits`);
    if (textsOf(runOf(on, "s")).length < 3) throw new Error("s waits");
  }, PATIENT);
  write("log.txt", "3\n");
  for (const id of [...others, "s"]) runOf(on, id).result();
  const { files } = await on.manager.changes("s", { limit: 9, turn: 3 });
  expect(files.map(({ path }) => path)).toEqual(["log.txt"]);
  expect((await on.manager.changes("o1", { limit: 9 })).files).toEqual([]);
});
