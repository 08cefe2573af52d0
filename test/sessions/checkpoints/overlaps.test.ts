// lane: process
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { keepFoundGit } from "../../../src/git/index.ts";
import { Overlaps } from "../../../src/sessions/checkpoints/overlaps.ts";
import { Scratch } from "../../git/scratch.ts";
import { PATIENT } from "../../support/patience.ts";
import { settle } from "../fakes.ts";
import { runOf, spawn, type World, world } from "../system.ts";

const always = () => true;
const turn = (session_id: string, paths: string[], root = "/r") => ({
  session_id,
  root,
  commonDir: "/r/.git",
  paths,
});

describe("files that two sessions have changed", () => {
  test("are reported once per pair and file, with the other's directory", () => {
    const overlaps = new Overlaps();
    expect(overlaps.take(turn("a", ["x", "y"]), always)).toEqual([]);
    expect(overlaps.take(turn("b", ["y", "z"], "/w"), always)).toEqual([
      { session_id: "b", other: "a", paths: ["y"], isSameDirectory: false },
    ]);
    expect(overlaps.take(turn("a", ["y"]), always)).toEqual([]);
    expect(overlaps.take(turn("a", ["z"]), always)).toMatchObject([{ other: "b", paths: ["z"] }]);
    expect(overlaps.take(turn("c", ["x"]), always)).toMatchObject([{ other: "a", isSameDirectory: true }]);
  });

  test("do not count for a session that is not live, was deleted, works on another repository or changed everything", () => {
    const overlaps = new Overlaps();
    overlaps.take(turn("a", ["x"]), always);
    overlaps.take(turn("b", ["q"]), always);
    expect(overlaps.take(turn("c", ["x"]), (id) => id !== "a")).toEqual([]);
    overlaps.forget("b");
    expect(overlaps.take(turn("d", ["q"]), always)).toEqual([]);
    expect(overlaps.take({ ...turn("e", ["q"]), commonDir: "/other" }, always)).toEqual([]);
    const everything = Array.from({ length: 3000 }, (_, at) => `f${at}`);
    expect(overlaps.take(turn("f", [...everything, "q"]), always)).toEqual([]);
  });
});

async function readNotices(on: World, session_id: string): Promise<{ text: string; data: unknown }[]> {
  const { events } = await on.manager.events({ session_id, since_seq: 0, limit: 100, waitMs: 0 });
  return events
    .map(({ frame }) => frame as { category?: string; text: string; data: unknown })
    .filter(({ category }) => category === "same_file_changed");
}

test("both sessions and their parents get a notice; a third session does not", async () => {
  const scratch = Scratch.create();
  onTestFinished(() => scratch.remove());
  const env = { PATH: process.env["PATH"] ?? "" };
  const on = await world({
    findGit: keepFoundGit(env),
    checkpoints: {
      ...{
        root: join(scratch.home, "checkpoints"),
        hidden: [],
        timeoutMs: PATIENT.timeout,
        maxFileBytes: 1000,
      },
      env,
    },
  });
  const other = join(scratch.home, "other");
  scratch.run("worktree", "add", "-q", other);
  await spawn(on, "lead", { cwd: scratch.home });
  await spawn(on, "stranger", { cwd: scratch.home });
  const work = async (session_id: string, cwd: string, more: object) => {
    await spawn(on, session_id, { cwd, ...more });
    await vi.waitFor(() => expect(runOf(on, session_id).sent).toHaveLength(1), PATIENT);
    scratch.write("a.txt", `by ${session_id}`, cwd);
    runOf(on, session_id).result();
    await settle();
  };
  await work("one", scratch.root, { parent: "lead", name: "fixer" });
  await work("two", other, {});
  await vi.waitFor(async () => expect(await readNotices(on, "one")).toHaveLength(1), PATIENT);
  const [notice] = await readNotices(on, "lead");
  expect(notice).toMatchObject({
    text: "two and fixer have both changed a.txt, in their worktrees",
    data: { session_ids: ["two", "one"], paths: ["a.txt"], count: 1, same_directory: false },
  });
  expect(await readNotices(on, "two")).toHaveLength(1);
  expect(await readNotices(on, "stranger")).toEqual([]);
});
