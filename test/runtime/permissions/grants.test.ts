import { execFile } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildSync } from "esbuild";
import { describe, expect, test } from "vitest";
import { openGrants } from "../../../src/runtime/permissions/grants.ts";
import type { GrantKey } from "../../../src/runtime/permissions/types.ts";
import { tempDir } from "../../backends/temp-dir.ts";

const base = tempDir("grants");
const ROOT = "/work-space";
const TTL = 1000;
let count = 0;

function place(): { directory: string; file: string } {
  count += 1;
  const directory = join(base, `p${count}`, "demian", "projects", "abc");
  return { directory, file: join(directory, "grants.json") };
}

const key = (name: string): GrantKey => ({
  kind: "command",
  argv: ["npm", name],
  executable: "/usr/bin/npm",
  cwd: ROOT,
});
const open = (
  directory: string,
  over: { persistent?: boolean; root?: string; now?: () => number; ttlMs?: number } = {},
) => openGrants({ directory, root: ROOT, persistent: true, ttlMs: TTL, now: () => 5000, ...over });
const keysOf = async (store: Awaited<ReturnType<typeof openGrants>>) =>
  (await store.list()).map((grant) => grant.key);

describe("grants for the project", () => {
  test.each([
    [{ ttlMs: 7 * 86_400_000 }, "for 7 days in this project"],
    [{ ttlMs: 3_600_000 }, "for 1 h in this project"],
    [{ persistent: false }, "for this session"],
  ])("say how long they hold: %j, %s", async (over, span) => {
    expect((await open(place().directory, over)).span).toBe(span);
  });

  test("are there in the next process, in a private file of a private directory", async () => {
    const { directory, file } = place();
    expect(await (await open(directory)).add(key("test"), "project")).toBe("project");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const later = await open(directory);
    expect(await later.list()).toEqual([
      { key: key("test"), scope: "project", grantedAtMs: 5000, expiresAtMs: 6000 },
    ]);
    expect(later.warnings).toEqual([]);
    expect(readdirSync(directory)).toEqual(["grants.json"]);
  });

  test.each<GrantKey>([
    { kind: "agent", agent: "reviewer", provider: "gemini-fast" },
    { kind: "agent", agent: "reviewer", provider: "gemini-fast", digest: "ab12" },
    { kind: "command", argv: ["ls"], executable: "/usr/bin/ls", cwd: ROOT, executor: "claudecode" },
    { kind: "write", tool: "claudecode.Edit", directory: "src" },
  ])("for sub-agents and for other executors are there in the next process: %j", async (given) => {
    const { directory } = place();
    await (await open(directory)).add(given, "project");
    const later = await open(directory);
    expect(await keysOf(later)).toEqual([given]);
    expect(later.warnings).toEqual([]);
  });

  test("of an older file, without either, still count", async () => {
    const { directory, file } = place();
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const times = { scope: "project", grantedAtMs: 5000, expiresAtMs: 6000 };
    const grants = [key("test"), { kind: "other", tool: "x", key: "k" }].map((one) => ({
      key: one,
      ...times,
    }));
    writeFileSync(file, JSON.stringify({ version: 1, root: ROOT, grants }), { mode: 0o600 });
    const store = await open(directory);
    await store.add({ kind: "agent", agent: "a", provider: "p" }, "project");
    expect(await keysOf(await open(directory))).toHaveLength(3);
    expect(store.warnings).toEqual([]);
  });

  test("end with their time, on load and in use", async () => {
    const { directory } = place();
    let now = 5000;
    const store = await open(directory, { now: () => now });
    await store.add(key("test"), "project");
    now = 5999;
    expect(await keysOf(store)).toHaveLength(1);
    now = 6000;
    expect(await keysOf(store)).toEqual([]);
    expect(await keysOf(await open(directory, { now: () => now }))).toEqual([]);
  });

  test("a shorter time in the configuration also ends older ones, and one from the future does not count", async () => {
    const { directory } = place();
    await (await open(directory)).add(key("test"), "project");
    expect(await keysOf(await open(directory, { ttlMs: 10, now: () => 5010 }))).toEqual([]);
    expect(await keysOf(await open(directory, { now: () => -60_000 }))).toEqual([]);
  });

  test("given by another process are seen, and so is a file that was deleted", async () => {
    const { directory, file } = place();
    const [one, two] = [await open(directory), await open(directory)];
    await one.add(key("a"), "project");
    expect(await keysOf(two)).toEqual([key("a")]);
    rmSync(file);
    expect(await keysOf(two)).toEqual([]);
  });

  test("given twice are kept once, with the later time", async () => {
    const { directory } = place();
    let now = 5000;
    const store = await open(directory, { now: () => now });
    await store.add(key("a"), "project");
    now = 5500;
    await store.add(key("a"), "project");
    expect(await store.list()).toEqual([expect.objectContaining({ expiresAtMs: 6500 })]);
  });

  test("of many processes at once are all kept", async () => {
    const { directory } = place();
    const program = join(base, "add.mjs");
    const source = `
      import { openGrants } from "./grants.ts";
      const [directory, name] = process.argv.slice(2);
      const store = await openGrants({ directory, root: "${ROOT}", persistent: true, ttlMs: ${TTL}, now: () => 5000 });
      for (let n = 0; n < 10; n += 1) await store.add({ kind: "other", tool: "x", key: name + n }, "project");
      process.exitCode = store.warnings.length;`;
    const resolveDir = join(import.meta.dirname, "../../../src/runtime/permissions");
    buildSync({
      stdin: { contents: source, resolveDir },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: program,
    });
    const run = promisify(execFile);
    await Promise.all(["a", "b", "c"].map((name) => run(process.execPath, [program, directory, name])));
    expect(await keysOf(await open(directory))).toHaveLength(30);
    expect(readdirSync(directory)).toEqual(["grants.json"]);
  });

  test("a lock that a dead process left is taken over", async () => {
    const { directory } = place();
    const store = await open(directory);
    await store.add(key("a"), "project");
    writeFileSync(join(directory, "grants.json.lock"), "");
    utimesSync(join(directory, "grants.json.lock"), 1, 1);
    expect(await store.add(key("b"), "project")).toBe("project");
    expect(await keysOf(store)).toHaveLength(2);
  });
});

describe("a file that is not as we wrote it", () => {
  async function withFile(
    change: (file: string) => void,
  ): Promise<{ warnings: string[]; found: number; directory: string }> {
    const { directory, file } = place();
    await (await open(directory)).add(key("test"), "project");
    change(file);
    const store = await open(directory);
    return { warnings: store.warnings, found: (await store.list()).length, directory };
  }

  test.each([
    ["others can write", (file: string) => chmodSync(file, 0o622), "can be written by others"],
    [
      "is a link",
      (file: string) => {
        writeFileSync(`${file}.other`, readFileSync(file), { mode: 0o600 });
        rmSync(file);
        symlinkSync(`${file}.other`, file);
      },
      "symbolic link",
    ],
    [
      "is a directory",
      (file: string) => {
        rmSync(file);
        mkdirSync(file);
      },
      "not a regular file",
    ],
    ["is too long", (file: string) => writeFileSync(file, " ".repeat(1024 * 1024 + 1)), "larger than 1 MiB"],
  ])("is ignored and reported when it %s", async (_name, change, fault) => {
    const { warnings, found } = await withFile(change);
    expect(found).toBe(0);
    expect(warnings).toEqual([expect.stringContaining(fault)]);
  });

  test.each([
    ["no JSON", "{"],
    ["another shape", '{"version":1,"root":"/work-space","grants":[{"key":{"kind":"command"}}]}'],
    [
      "a grant without end",
      '{"version":1,"root":"/work-space","grants":[{"key":{"kind":"other","tool":"x","key":"y"},"scope":"project","grantedAtMs":1}]}',
    ],
    ["another root", '{"version":1,"root":"/elsewhere","grants":[]}'],
    ["an unknown field", '{"version":1,"root":"/work-space","grants":[],"all":true}'],
  ])("with %s is set aside and reported", async (_name, text) => {
    const { warnings, found, directory } = await withFile((file) => writeFileSync(file, text));
    expect(found).toBe(0);
    expect(warnings).toEqual([expect.stringMatching(/is damaged .* was moved to .*grants\.json\.bad-5000/)]);
    expect(readFileSync(join(directory, "grants.json.bad-5000"), "utf8")).toBe(text);
  });
});

describe("where nothing can be kept", () => {
  test("without persistence it is for the session, and nothing is written or read", async () => {
    const { directory } = place();
    await (await open(directory)).add(key("kept"), "project");
    const store = await open(directory, { persistent: false });
    expect(await store.add(key("a"), "project")).toBe("session");
    expect(await keysOf(store)).toEqual([key("a")]);
    expect(store.warnings).toEqual([]);
    expect(await keysOf(await open(directory))).toEqual([key("kept")]);
  });

  test("state in the workspace is not trusted", async () => {
    const root = join(base, "inside");
    const directory = join(root, "state", "demian");
    const store = await open(directory, { root });
    expect(await store.add(key("a"), "project")).toBe("session");
    expect(store.warnings).toEqual([expect.stringContaining("XDG_STATE_HOME")]);
  });

  test("a directory that others can write makes it a grant for the session, with a warning", async () => {
    const { directory } = place();
    mkdirSync(directory, { recursive: true });
    chmodSync(directory, 0o777);
    const store = await open(directory);
    expect(await store.add(key("a"), "project")).toBe("session");
    expect(await keysOf(store)).toEqual([key("a")]);
    expect(store.warnings).toEqual([expect.stringContaining("for this session only")]);
  });
});
