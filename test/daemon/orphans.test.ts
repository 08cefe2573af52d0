// Agents left by an earlier daemon, when the processes cannot be listed at first. test/daemon/crash.test.ts checks that
// they are ended.
import { expect, test } from "vitest";
import type { findByEnvironment } from "../../src/base/descendants.ts";
import { createIdentity } from "../../src/daemon/orphans.ts";
import { keptLog } from "../observe/material.ts";

const exhausted = (): Error => Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });

const NONE = { runs: new Set<string>(), sessions: new Set<string>() };

test("a sweep that cannot list processes reports it once and tries again", async () => {
  let tries = 0;
  const find: typeof findByEnvironment = async () => {
    tries += 1;
    if (tries < 3) throw exhausted();
    return [];
  };
  const { log, of } = keptLog();
  await createIdentity("/s.sock", "life", find).sweep(log, new AbortController().signal, NONE);
  expect(tries).toBe(3);
  expect(of("daemon.sweep_failed")).toMatchObject([{ fields: { message: "EMFILE: too many open files" } }]);
});

test("it stops trying when the daemon closes", async () => {
  const closing = new AbortController();
  const find: typeof findByEnvironment = async () => {
    closing.abort();
    throw exhausted();
  };
  await createIdentity("/s.sock", "life", find).sweep(keptLog().log, closing.signal, NONE);
});
