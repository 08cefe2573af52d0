// A directory that is exchanged, atomically and all the time, for a link to the outside while files are read and
// written through it. The control is what a check of the real path before the access is worth.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findRipgrep } from "../../../src/runtime/tools/ripgrep.ts";
import type { ToolContext } from "../../../src/runtime/tools/types.ts";
import { figure } from "../../crash/figure.ts";
import { createGround, type Ground, SECRET, waysToLookUp } from "./ground.ts";

const RUN_MS = 1000 * Number(process.env["SWAP_S"] ?? 0.8);
const LIMIT = { timeout: RUN_MS + 20_000 };
const INSIDE = "inside";

/** Linux: RENAME_EXCHANGE leaves no moment without the name. */
const EXCHANGE = `
const { workerData, parentPort } = require("node:worker_threads");
const koffi = require("koffi");
const renameat2 = koffi.load(null).func("int renameat2(int, const char *, int, const char *, unsigned int)");
const stop = new Int32Array(workerData.stop);
parentPort.postMessage("ready");
let count = 0;
while (Atomics.load(stop, 0) === 0) {
  if (renameat2(-100, workerData.a, -100, workerData.b, 2) !== 0) throw new Error("no exchange");
  count += 1;
}
// Ends as it began.
if (count % 2 === 1) renameat2(-100, workerData.a, -100, workerData.b, 2);
Atomics.store(stop, 1, count);
`;

describe.skipIf(process.platform !== "linux")("a directory that is a link every other moment", LIMIT, () => {
  let ground: Ground;
  const stop = new Int32Array(new SharedArrayBuffer(8));
  let worker: Worker;

  const prepare = async () => {
    mkdirSync(join(ground.root, "swap"));
    writeFileSync(join(ground.root, "swap/secret.txt"), INSIDE);
    symlinkSync(ground.outside, join(ground.root, "other"));
    Atomics.store(stop, 0, 0);
    const workerData = { a: join(ground.root, "swap"), b: join(ground.root, "other"), stop: stop.buffer };
    worker = new Worker(EXCHANGE, { eval: true, workerData });
    await new Promise((resolve) => worker.once("message", resolve));
  };

  beforeEach(async () => {
    ground = await createGround();
    await prepare();
  });

  afterEach(async () => {
    Atomics.store(stop, 0, 1);
    await worker.terminate();
    await ground.close();
  });

  const finish = async () => {
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    Atomics.store(stop, 0, 1);
    await exited;
    return Atomics.load(stop, 1);
  };

  test("the control: looking at the real path first does not help", () => {
    const endMs = Date.now() + 10_000;
    let read = 0;
    let written = 0;
    while (Date.now() < endMs && (read === 0 || written === 0)) {
      try {
        const path = join(ground.root, "swap/secret.txt");
        if (!realpathSync(path).startsWith(`${ground.root}/`)) continue;
        if (readFileSync(path, "utf8") === SECRET) read += 1;
        const target = join(ground.root, "swap/written.txt");
        if (!realpathSync(join(ground.root, "swap")).startsWith(`${ground.root}/`)) continue;
        writeFileSync(target, "x");
        if (readdirSync(ground.outside).includes("written.txt")) written += 1;
      } catch {
        // Between two exchanges a name may be looked up in the wrong place.
      }
    }
    expect(read).toBeGreaterThan(0);
    expect(written).toBeGreaterThan(0);
  });

  test("the control: ripgrep itself can be led outside", async () => {
    const program = await findRipgrep(ground.root);
    const endMs = Date.now() + 10_000;
    let seen = 0;
    while (Date.now() < endMs && seen === 0) {
      const { stdout } = spawnSync(program ?? "rg", ["--no-follow", "secret", "./"], { cwd: ground.root });
      if (stdout.includes(SECRET)) seen += 1;
    }
    expect(seen).toBeGreaterThan(0);
  });

  test("grep shows nothing from outside, though ripgrep itself walks by names", async () => {
    const { grepTool } = await import("../../../src/runtime/tools/grep.ts");
    const signal = new AbortController().signal;
    const context = { workspace: ground.workspace, signal, mayRead: () => true } as unknown as ToolContext;
    const endMs = Date.now() + RUN_MS;
    const texts = new Set<string>();
    while (Date.now() < endMs) {
      const input = { pattern: "inside|secret" };
      const plan = await grepTool.plan(input, context);
      texts.add((await grepTool.execute(input, plan, context)).content);
    }
    expect([...texts].filter((text) => text.includes(SECRET))).toEqual([]);
    expect([...texts].join()).toContain("secret.txt:1:inside");
  });

  test.each(waysToLookUp())("by %s nothing outside is read, written, made or seen", async (_, at) => {
    const { openWorkspace } = await import("../../../src/runtime/workspace/open.ts");
    const workspace = await openWorkspace(ground.root, at);
    const signal = new AbortController().signal;
    const endMs = Date.now() + RUN_MS;
    const done = { read: 0, written: 0, refused: 0, seen: 0 };
    const escapes: string[] = [];
    for (let round = 0; Date.now() < endMs; round += 1) {
      const content = await workspace.read("swap/secret.txt", { maxBytes: 100 }).catch(() => undefined);
      if (content === undefined) done.refused += 1;
      else if (content.bytes.toString() === INSIDE) done.read += 1;
      else escapes.push(`read ${content.bytes}`);
      await workspace.write(`swap/new-${round % 50}/deep/file`, "x").then(
        () => (done.written += 1),
        () => (done.refused += 1),
      );
      await workspace.write("swap/secret.txt", INSIDE).catch(() => undefined);
      if (round % 20 !== 0) continue;
      for await (const entry of workspace.walk(".", { skip: new Set(), signal })) {
        if (entry.path.endsWith("secret.txt") && entry.size === SECRET.length)
          escapes.push(`saw ${entry.path}`);
        done.seen += 1;
      }
    }
    const exchanges = await finish();
    await workspace.close();
    expect(escapes).toEqual([]);
    expect(readdirSync(ground.outside)).toEqual(["secret.txt"]);
    expect(readFileSync(join(ground.outside, "secret.txt"), "utf8")).toBe(SECRET);
    expect(ground.openDescriptors()).toBe(1);
    // It was a race: both sides got through.
    expect(exchanges).toBeGreaterThan(10);
    for (const count of Object.values(done)) expect(count).toBeGreaterThan(0);
    figure(
      `swap race: ${exchanges} exchanges, ${done.read} reads, ${done.written} writes, ${escapes.length} escapes`,
    );
  });
});
