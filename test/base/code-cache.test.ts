// Programs keep their compiled code in a directory of the user's, and start without it if it is missing or wrong. Also run
// on Node 24 (scripts/test-node24.mjs): what V8 accepts differs between versions.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../backends/temp-dir.ts";
import { startDaemon } from "../support/daemon.ts";
import { ROOT } from "../support/root.ts";

function startWith(env: Record<string, string>, ...args: string[]): string {
  const options = { env: { PATH: process.env["PATH"], ...env }, encoding: "utf8" } as const;
  return execFileSync(
    process.execPath,
    [join(ROOT, "dist/sm.js"), ...(args.length === 0 ? ["help"] : args)],
    options,
  );
}

/** The one file that is kept after the first start. */
function keptIn(base: string): string {
  const directory = join(base, "blemees/code-cache");
  const names = readdirSync(directory);
  expect(names).toHaveLength(1);
  return join(directory, names[0] ?? "");
}

/** A file is replaced by renaming another one to it, so it has another number then. */
const inode = (path: string): number => statSync(path).ino;

test.each([
  ["XDG_CACHE_HOME", ""],
  ["HOME", ".cache"],
])(
  "with %s compiled code is kept below it, for the user only, and used by the next start",
  (variable, directory) => {
    const base = tempDir("code-cache");
    expect(startWith({ [variable]: base })).toMatch(/^usage: sm/);
    const kept = keptIn(join(base, directory));
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    const before = inode(kept);
    expect(startWith({ [variable]: base })).toMatch(/^usage: sm/);
    expect(inode(kept)).toBe(before);
  },
);

test.each([
  ["cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ["empty", () => Buffer.alloc(0)],
  // V8 itself would crash on it.
  ["damaged in the middle", (bytes: Buffer) => bytes.fill(0, bytes.length / 2, bytes.length / 2 + 4096)],
  ["of another source", (bytes: Buffer) => bytes.fill(7, bytes.length - 12, bytes.length - 8)],
])("compiled code that is %s is not used, and replaced", (_, damage) => {
  const base = tempDir("code-cache");
  startWith({ HOME: base });
  const kept = keptIn(join(base, ".cache"));
  const right = readFileSync(kept);
  writeFileSync(kept, damage(Buffer.from(right)));
  expect(startWith({ HOME: base })).toMatch(/^usage: sm/);
  expect(readFileSync(kept).length).toBeGreaterThan(right.length / 2);
  const before = inode(kept);
  startWith({ HOME: base });
  expect(inode(kept)).toBe(before);
});

test("compiled code of a run that showed only its help is replaced by the next other run, but not the reverse", () => {
  const base = tempDir("code-cache");
  startWith({ HOME: base }, "--help");
  const kept = keptIn(join(base, ".cache"));
  const ofHelp = inode(kept);
  startWith({ HOME: base }, "completion", "bash");
  const ofCommand = inode(kept);
  expect(ofCommand).not.toBe(ofHelp);
  startWith({ HOME: base }, "completion", "bash");
  startWith({ HOME: base }, "--help");
  expect(inode(kept)).toBe(ofCommand);
});

test("programs that run with other flags of V8 keep their own compiled code, and replace no other", () => {
  const base = tempDir("code-cache");
  const flags = { HOME: base, NODE_OPTIONS: "--stack-trace-limit=20" };
  startWith({ HOME: base });
  const kept = keptIn(join(base, ".cache"));
  const before = inode(kept);
  startWith(flags);
  startWith({ HOME: base });
  expect(inode(kept)).toBe(before);
  expect(readdirSync(join(kept, ".."))).toHaveLength(2);
});

test("compiled code that others can write is not used", () => {
  const base = tempDir("code-cache");
  startWith({ HOME: base });
  const kept = keptIn(join(base, ".cache"));
  const before = inode(kept);
  chmodSync(kept, 0o666);
  expect(startWith({ HOME: base })).toMatch(/^usage: sm/);
  expect(inode(kept)).not.toBe(before);
});

test.each([
  ["without a home directory", {}],
  ["with a cache directory that cannot be made", { XDG_CACHE_HOME: "/dev/null" }],
])("%s nothing is kept, and the program starts", (_, env) => {
  const temporary = mkdtempSync(join(tmpdir(), "code-cache-"));
  expect(startWith({ TMPDIR: temporary, ...env })).toMatch(/^usage: sm/);
  expect(readdirSync(temporary)).toEqual([]);
});

test("the daemon keeps compiled code that its next start can use", async () => {
  const base = tempDir("code-cache");
  const runDaemon = async (): Promise<number> => {
    const daemon = await startDaemon({ env: { XDG_CACHE_HOME: base } });
    const client = await daemon.connect();
    // Answered when sessions are recovered, which is when V8's flags used to change.
    await client.request({ type: "blemeesd.list_sessions", cwd: "/" });
    await daemon.close();
    const directory = join(base, "blemees/code-cache");
    return inode(join(directory, readdirSync(directory).find((name) => name.startsWith("blemeesd-")) ?? ""));
  };
  const before = await runDaemon();
  expect(await runDaemon()).toBe(before);
});

test("--version loads nothing", () => {
  const base = tempDir("code-cache");
  const options = { env: { PATH: process.env["PATH"], HOME: base }, encoding: "utf8" } as const;
  for (const name of ["sm", "blemees", "blemeesctl", "blemeesd", "demian", "demian-cli", "demian-plain"]) {
    const program = join(ROOT, `dist/${name}.js`);
    expect(execFileSync(process.execPath, [program, "--version"], options)).toMatch(
      new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\n$`),
    );
  }
  expect(readdirSync(base)).toEqual([]);
});
