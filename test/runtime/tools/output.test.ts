// Long output: what the model gets of it, and where the rest is kept.
import {
  existsSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  capOutput,
  getOutputDirectory,
  keepOutput,
  OutputCollector,
} from "../../../src/runtime/tools/output.ts";
import { Bench } from "./run-tool.ts";

const LIMIT = 32 * 1024;
const FILE = ".demian/tmp/output-call_1.txt";

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

const order = (more: object = {}) => ({
  directory: getOutputDirectory(bench.root),
  callId: "call_1",
  ...more,
});
const keep = (output: string | Buffer) => keepOutput(order(), output);

async function collect(chunks: readonly Buffer[], more: object = {}) {
  const collector = new OutputCollector(order(more));
  for (const chunk of chunks) collector.push(chunk);
  return collector.finish();
}

/** Both ways to cut must not differ. */
const WAYS = [
  ["as a whole", (bytes: Buffer) => capOutput(bytes, keep)],
  ["in one chunk", (bytes: Buffer) => collect([bytes])],
  ["in chunks of 7", (bytes: Buffer) => collect(chunked(bytes, 7))],
  ["in chunks of 20000", (bytes: Buffer) => collect(chunked(bytes, 20_000))],
] as const;

describe.each(WAYS)("output %s", (_, cap) => {
  test("of 32 KB is returned unchanged, and nothing is kept", async () => {
    const text = "x".repeat(LIMIT);
    expect(await cap(Buffer.from(text))).toEqual({ content: text, truncated: false });
    expect(existsSync(bench.path(".demian"))).toBe(false);
  });

  test("of one byte more is cut to its head and tail, and kept whole", async () => {
    const text = `${"h".repeat(16 * 1024)}m${"t".repeat(16 * 1024)}`;
    const { content, truncated, outputFile } = await cap(Buffer.from(text));
    expect([truncated, outputFile]).toEqual([true, FILE]);
    const marker = `\n\n[… 1 of 32769 bytes left out; the full output is in ${FILE} …]\n\n`;
    expect(content).toBe("h".repeat(16 * 1024) + marker + "t".repeat(16 * 1024));
    expect(bench.get(FILE)).toBe(text);
  });

  test("is never cut within a character", async () => {
    const text = `x${"ä🎉".repeat(20_000)}`;
    const { content } = await cap(Buffer.from(text));
    expect(content).not.toContain("\ufffd");
    expect(bench.get(FILE)).toBe(text);
  });
});

test("the directory ignores itself in git, and only its owner reads what is kept", async () => {
  await keep("text");
  expect(bench.get(".demian/tmp/.gitignore")).toBe("*\n");
  expect(statSync(bench.path(FILE)).mode & 0o777).toBe(0o600);
});

test("a name that is taken gets a number, and odd ids do no harm", async () => {
  expect(await keep("1")).toBe(FILE);
  expect(await keep("2")).toBe(".demian/tmp/output-call_1-2.txt");
  expect(await keepOutput(order({ callId: "../../../etc/x\0" }), "3")).toBe(
    ".demian/tmp/output-_________etc_x_.txt",
  );
  expect([bench.get(FILE), bench.get(".demian/tmp/output-call_1-2.txt")]).toEqual(["1", "2"]);
});

test("what is older than a week is removed when something new is kept, and links are left alone", async () => {
  const aged = (path: string, days: number) => {
    bench.put(path, path);
    const then = Date.now() / 1000 - days * 86_400;
    utimesSync(bench.path(path), then, then);
  };
  for (const path of [".demian/tmp/output-old.txt", ".demian/tmp/notes.md", "outside.txt"]) aged(path, 8);
  aged(".demian/tmp/output-new.txt", 6);
  symlinkSync("../../outside.txt", bench.path(".demian/tmp/output-link.txt"));
  lutimesSync(bench.path(".demian/tmp/output-link.txt"), 1, 1);
  mkdirSync(bench.path(".demian/tmp/output-folder.txt"));
  utimesSync(bench.path(".demian/tmp/output-folder.txt"), 1, 1);
  await keep("text");
  expect(readdirSync(bench.path(".demian/tmp")).sort()).toEqual([
    ".gitignore",
    "notes.md",
    "output-call_1.txt",
    "output-folder.txt",
    "output-link.txt",
    "output-new.txt",
  ]);
  expect(bench.get("outside.txt")).toBe("outside.txt");
});

describe("links that wait where the output goes", () => {
  test.each([".demian", ".demian/tmp", FILE])("%s: nothing is written through it", async (path) => {
    const other = await Bench.open();
    mkdirSync(bench.path(path.split("/").slice(0, -1).join("/")), { recursive: true });
    symlinkSync(path === FILE ? other.path("x") : other.root, bench.path(path));
    const { content, truncated, outputFile } = await collect([Buffer.alloc(LIMIT + 1, "x")]);
    expect(truncated).toBe(true);
    if (path === FILE) expect(outputFile).toBe(".demian/tmp/output-call_1-2.txt");
    else expect(content).toMatch(/the full output could not be saved: cannot write to/);
    expect(readdirSync(other.root)).toEqual([]);
    await other.close();
  });

  test("capOutput says so as well", async () => {
    writeFileSync(bench.path(".demian"), "a file");
    const { content, outputFile } = await capOutput("x".repeat(LIMIT + 1), keep);
    expect(content).toMatch(/could not be saved/);
    expect(outputFile).toBeUndefined();
  });
});

test("beyond its limit no more is kept, and the text says how much is", async () => {
  const { content, outputFile } = await collect(chunked(Buffer.alloc(100_000, "x"), 999), {
    maxKeptBytes: 50_000,
  });
  expect(content).toContain(`only the first 50000 bytes are in ${FILE}`);
  expect(outputFile).toBe(FILE);
  expect(statSync(bench.path(FILE)).size).toBe(50_000);
});

test("100 MB pass through with little memory", async () => {
  const collector = new OutputCollector(order());
  const chunk = Buffer.alloc(64 * 1024, "x");
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 1600; count += 1) collector.push(chunk);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 1024 * 1024);
  expect((await collector.finish()).content.length).toBeLessThan(34_000);
  expect(statSync(bench.path(FILE)).size).toBe(1600 * 64 * 1024);
});

test("finishing twice gives the same, and what comes later is not kept", async () => {
  const collector = new OutputCollector(order());
  collector.push(Buffer.alloc(LIMIT + 1, "x"));
  const first = await collector.finish();
  expect(await collector.finish()).toEqual(first);
  collector.push(Buffer.from("late"));
  expect(statSync(bench.path(FILE)).size).toBe(LIMIT + 1);
});

function chunked(bytes: Buffer, size: number): Buffer[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}
