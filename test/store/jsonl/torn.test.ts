// What a crash can leave at the end or in the middle of `<id>.jsonl` (SAFETY.md): the longest valid gapless prefix
// stays, the rest is put aside and reported.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openInProcessStore, type Recovery, type Store } from "../../../src/store/index.ts";
import { append, batch, frame, frames, readAll, row, tempDir } from "../material.ts";

const good = frames("s", 1, 3);
const accented = Buffer.from(frame("s", 4, "é"));
const NUL = Buffer.alloc(300);

const torn: [name: string, rest: string | Buffer][] = [
  ["half a line", frame("s", 4).slice(0, 20)],
  ["a whole frame without its newline", frame("s", 4).slice(0, -1)],
  ["a cut in the middle of a UTF-8 character", accented.subarray(0, accented.indexOf(0xc3) + 1)],
  [
    "bytes that are not UTF-8 in a whole line",
    Buffer.concat([accented.subarray(0, -5), Buffer.from([0xc3, 0x22, 0x7d, 0x0a])]),
  ],
  ["NULs", NUL],
  ["NULs inside a line", Buffer.concat([Buffer.from(frame("s", 4).slice(0, 30)), NUL, Buffer.from("\n")])],
  ["NULs in front of a good frame", Buffer.concat([NUL, Buffer.from(frame("s", 4))])],
  ["a seq that is there already", frame("s", 3)],
  ["a gap in seq", frame("s", 5)],
  ["a seq that is no whole number", frame("s", 4).replace('"seq":4', '"seq":4.5')],
  ["a seq that is a string", frame("s", 4).replace('"seq":4', '"seq":"4"')],
  ["no seq", frame("s", 4).replace('"seq":4,', "")],
  ["a frame of another session", frame("t", 4)],
  ["garbage in the middle, good frames behind", `%&garbage\n${frames("s", 4, 9)}`],
  ["an empty line", `\n${frame("s", 4)}`],
  ["JSON that is no object", `[4]\n`],
];

async function openOn(content: string | Buffer): Promise<{ store: Store; dir: string; found: Recovery[] }> {
  const dir = tempDir();
  writeFileSync(join(dir, "s.jsonl"), content);
  const found: Recovery[] = [];
  const store = await openInProcessStore(
    { kind: "jsonl", path: dir },
    { onRecovery: (one) => found.push(one) },
  );
  onTestFinished(() => store.close());
  return { store, dir, found };
}

test("the control: a whole log is not touched and nothing is reported", async () => {
  const { store, dir, found } = await openOn(good);
  expect(await readAll(store, "s")).toBe(good);
  expect(found).toEqual([]);
  expect(readdirSync(dir)).toEqual(["s.jsonl"]);
});

test.each(torn)("behind the last good frame: %s is put aside, and the log goes on", async (_name, rest) => {
  const { store, dir, found } = await openOn(Buffer.concat([Buffer.from(good), Buffer.from(rest)]));
  expect(await readAll(store, "s")).toBe(good);
  const cut_bytes = Buffer.from(rest).length;
  expect(found).toEqual([
    { session_id: "s", kept_seq: 3, cut_bytes, aside: expect.stringContaining("s.jsonl.torn-") },
  ]);
  expect(readFileSync(found[0]?.aside ?? "")).toEqual(Buffer.from(rest));
  await append(store, batch("s", 4, 5));
  expect(readFileSync(join(dir, "s.jsonl"), "utf8")).toBe(frames("s", 1, 5));
  expect(await store.loadRow("s")).toMatchObject({ last_seq: 5 });
});

test("a log that is torn from its first byte is put aside, and seq goes on behind the row", async () => {
  const { store, found } = await openOn(NUL);
  await store.saveRow(row("s", { last_seq: 7 }));
  await append(store, batch("s", 8));
  expect(await readAll(store, "s")).toBe(frame("s", 8));
  expect(found).toMatchObject([{ kept_seq: 0, cut_bytes: 300 }]);
});

test("a log that begins behind seq 1 is whole: retention cut its front", async () => {
  const { store, found } = await openOn(frames("s", 40, 50));
  expect(await readAll(store, "s")).toBe(frames("s", 40, 50));
  expect(found).toEqual([]);
});

test("lines longer than a chunk are recovered like any other", async () => {
  const large = frame("s", 1, "x".repeat(3_000_000)) + frames("s", 2, 30_000);
  const { store, found } = await openOn(`${large}{"to`);
  expect(await store.loadRow("s")).toMatchObject({ last_seq: 30_000 });
  expect(found).toMatchObject([{ cut_bytes: 4 }]);
  expect((await store.read("s", 29_998, 1_000_000))?.bytes.length).toBe(frames("s", 29_999, 30_000).length);
});

test("two torn tails at the same moment are both kept", async () => {
  const dir = tempDir();
  for (const rest of ["first", "second"]) {
    writeFileSync(join(dir, "s.jsonl"), good + rest);
    const store = await openInProcessStore({ kind: "jsonl", path: dir }, { now: () => 0 });
    expect(await readAll(store, "s")).toBe(good);
    await store.close();
  }
  const kept = readdirSync(dir).filter((name) => name.includes("torn"));
  expect(kept.map((name) => readFileSync(join(dir, name), "utf8")).sort()).toEqual(["first", "second"]);
});

test("a log that a file system without case gave to two sessions is refused, not cut", async () => {
  const { store, dir } = await openOn(frames("S", 1, 3));
  expect(await store.append({ batches: [batch("s", 1)], rows: [], sync: false })).toEqual([
    expect.stringMatching(/is the log of S/),
  ]);
  expect(readFileSync(join(dir, "s.jsonl"), "utf8")).toBe(frames("S", 1, 3));
});

test("a listing tells the last whole frame of a torn log without touching it", async () => {
  const { store, dir, found } = await openOn(`${good}{"half`);
  await store.saveRow(row("s"));
  expect(await store.rows()).toMatchObject([{ session_id: "s", last_seq: 3 }]);
  expect(found).toEqual([]);
  expect(readFileSync(join(dir, "s.jsonl"), "utf8")).toBe(`${good}{"half`);
});
