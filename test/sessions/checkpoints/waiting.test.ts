// lane: process
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { PATIENT } from "../../support/patience.ts";
import { Ear, settle, user } from "../fakes.ts";
import { runOf, spawn, textsOf, type World } from "../system.ts";
import { fakeGit, openPlace } from "./place.ts";

/** Looking for new files waits until the file `go` exists. */
const SLOW = 'case "$*" in *ls-files*--others*) while [ ! -e DIR/go ]; do sleep 0.02; done;; esac';
const HANGS = 'case "$*" in *ls-files*--others*) touch DIR/begun; exec sleep 600;; esac';

async function openWith(script: string, timeoutMs: number) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "slow-git-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const place = await openPlace({ timeoutMs, env: { PATH: fakeGit(home, script.replaceAll("DIR", home)) } });
  return { ...place, home };
}

const begin = (on: World, cwd: string) => spawn(on, "s", { cwd });

test("the message waits for the checkpoint before its turn", async () => {
  const { on, repo, home } = await openWith(SLOW, PATIENT.timeout);
  await begin(on, repo);
  await settle(50);
  expect(textsOf(runOf(on, "s"))).toEqual([]);
  writeFileSync(join(home, "go"), "");
  await vi.waitFor(() => expect(textsOf(runOf(on, "s"))).toEqual(["do s"]), PATIENT);
});

test("an interrupt ends the turn at once, and its message is not sent", async () => {
  const { on, repo, home } = await openWith(SLOW, PATIENT.timeout);
  await begin(on, repo);
  await settle(20);
  const run = runOf(on, "s");
  await on.manager.interrupt("s");
  expect(await on.manager.view("s")).toMatchObject({ last_result: { subtype: "interrupted" } });
  writeFileSync(join(home, "go"), "");
  await on.manager.input({ session_id: "s", message: user("next") });
  await vi.waitFor(() => expect(textsOf(run)).toEqual(["next"]), PATIENT);
});

test("a result that comes while the message waits ends no turn of ours", async () => {
  const { on, repo, home } = await openWith(SLOW, PATIENT.timeout);
  await begin(on, repo);
  await settle(20);
  runOf(on, "s").result();
  await settle(20);
  expect((await on.manager.view("s")).turn).toBeDefined();
  writeFileSync(join(home, "go"), "");
  await vi.waitFor(() => expect(textsOf(runOf(on, "s"))).toEqual(["do s"]), PATIENT);
  runOf(on, "s").result();
  await on.manager.wait({ session_id: "s", until: ["idle"], timeoutMs: PATIENT.timeout });
});

test("a checkpoint that takes too long is skipped and reported", async () => {
  const { on, repo, home } = await openWith(SLOW, 100);
  const ear = new Ear();
  const next = async (n: number) => {
    if (n === 1) await begin(on, repo);
    else await on.manager.input({ session_id: "s", message: user(`turn ${n}`) });
    await vi.waitFor(() => expect(runOf(on, "s").sent).toHaveLength(n), PATIENT);
  };
  await next(1);
  const watching = await on.manager.watch({ id: "c" }, ear, "s", undefined);
  watching.attachment.start();
  writeFileSync(join(home, "go"), "");
  await vi.waitFor(() => expect(JSON.stringify(ear.heard)).toContain("checkpoint_skipped"), PATIENT);
  const { turns } = await on.manager.changes("s", { limit: 1 });
  expect(turns[0]?.skipped).toContain("longer than 100 ms (checkpoint_timeout_ms)");
});

test("another session's events do not wait while git hangs", async () => {
  const { on, repo, home } = await openWith(HANGS, PATIENT.timeout);
  await begin(on, repo);
  await vi.waitFor(() => expect(existsSync(join(home, "begun"))).toBe(true), PATIENT);
  await spawn(on, "other");
  await vi.waitFor(() => expect(textsOf(runOf(on, "other"))).toHaveLength(1), PATIENT);
  const ear = new Ear();
  (await on.manager.watch({ id: "c" }, ear, "other", undefined)).attachment.start();
  runOf(on, "other").say("hello");
  runOf(on, "other").result();
  await settle(10);
  expect(JSON.stringify(ear.heard)).toContain("hello");
  expect(await on.manager.view("other")).toMatchObject({ activity_state: "idle" });
  await on.manager.interrupt("s");
});
