// JSONL files that the database does not have are imported at the start: those of versions that used them as the store,
// and damaged ones up to the damage.
import { mkdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SessionId, SessionRow } from "../../../src/protocol/session.ts";
import { nodeFileSystem } from "../../../src/store/disk/file-system.ts";
import type { Store } from "../../../src/store/index.ts";
import { SeqMarks } from "../../../src/store/seq-marks.ts";
import { isSessionId } from "../../../src/store/session-id.ts";
import { append, batch, frame, frames, readAll, request, row } from "../material.ts";
import { JsonlPlace } from "./place.ts";

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
  ["a seq that was used before", frame("s", 3)],
  ["a gap in seq", frame("s", 5)],
  ["a seq that is no whole number", frame("s", 4).replace('"seq":4', '"seq":4.5')],
  ["a seq that is a string", frame("s", 4).replace('"seq":4', '"seq":"4"')],
  ["no seq", frame("s", 4).replace('"seq":4,', "")],
  ["a frame of another session", frame("t", 4)],
  ["garbage in the middle, good frames after it", `%&garbage\n${frames("s", 4, 9)}`],
  ["an empty line", `\n${frame("s", 4)}`],
  ["JSON that is no object", `[4]\n`],
];

async function openOn(files: Record<string, string | Buffer>): Promise<{ place: JsonlPlace; store: Store }> {
  const place = new JsonlPlace();
  mkdirSync(place.dir);
  for (const [name, content] of Object.entries(files)) place.write(name, content);
  return { place, store: await place.open() };
}

test("a directory of an older version: frames, rows and requests are imported once, and the files continue", async () => {
  const open = request("s", "r2");
  const settled = request("s", "r1", { status: "orphaned" });
  const { place, store } = await openOn({
    "s.jsonl": good,
    "s.usage.json": JSON.stringify(row("s", { turns: 2, title: "old", last_seq: 3 })),
    "s.requests.json": JSON.stringify({ rows: [open] }),
    "s.settled.ndjson": `${JSON.stringify(settled)}\n`,
    "t.usage.json": JSON.stringify(row("t", { last_seq: 7 })),
    "notes.txt": "mine",
    "notes.jsonl": "mine too\n",
  });
  expect(place.found).toMatchObject([
    { event: "imported", message: expect.stringContaining("2 sessions with 3 events") },
  ]);
  expect(await readAll(store, "s")).toBe(good);
  expect(await store.loadRow("s")).toEqual(row("s", { turns: 2, title: "old", last_seq: 3 }));
  expect(await store.loadRow("t")).toMatchObject({ last_seq: 7 });
  expect(await store.requests({})).toEqual(expect.arrayContaining([open, settled]));
  await append(store, batch("s", 4, 5), batch("t", 8));
  const again = await place.open();
  expect(place.found).toEqual([]);
  expect(await readAll(again, "s")).toBe(frames("s", 1, 5));
  expect(await again.requests({})).toHaveLength(2);
  await again.close();
  expect([place.read("s.jsonl"), place.read("t.jsonl")]).toEqual([frames("s", 1, 5), frame("t", 8)]);
  expect([place.read("notes.txt"), place.read("notes.jsonl")]).toEqual(["mine", "mine too\n"]);
  const kept = place.names().filter((name) => name.includes(".imported-"));
  expect(kept).toEqual([
    expect.stringMatching(/^s\.requests\.json\.imported-\d{8}T\d{9}Z$/),
    expect.stringMatching(/^s\.settled\.ndjson\.imported-\d{8}T\d{9}Z$/),
  ]);
});

test("a request that was written before its frames counts only if they exist", async () => {
  const next = (last_seq: number) =>
    JSON.stringify({ rows: [], next: { last_seq, rows: [request("s", "r")] } });
  const with3 = await openOn({ "s.jsonl": good, "s.requests.json": next(3) });
  expect(await with3.store.requests({})).toHaveLength(1);
  const with4 = await openOn({ "s.jsonl": good, "s.requests.json": next(4) });
  expect(await with4.store.requests({})).toEqual([]);
});

test("damaged requests are left out and reported, the others are imported", async () => {
  const rows = [request("s", "r1"), { ...request("s", "r2"), payload: 3 }, request("other", "r3")];
  const { place, store } = await openOn({ "s.jsonl": good, "s.requests.json": JSON.stringify({ rows }) });
  expect(await store.requests({})).toEqual([request("s", "r1")]);
  expect(place.found).toMatchObject([{ message: expect.stringMatching(/^2 requests/) }, {}]);
  const broken = await openOn({ "s.jsonl": good, "s.requests.json": `{"rows":[` });
  expect(broken.place.found).toMatchObject([{ message: expect.stringMatching(/^1 requests/) }, {}]);
  expect(await readAll(broken.store, "s")).toBe(good);
});

test.each(torn)("after the last good frame: %s is set aside, and the log continues", async (_name, rest) => {
  const { place, store } = await openOn({ "s.jsonl": Buffer.concat([Buffer.from(good), Buffer.from(rest)]) });
  expect(await readAll(store, "s")).toBe(good);
  const [cut] = place.found;
  const aside = expect.stringContaining("s.jsonl.torn-");
  expect(cut).toEqual({ session_id: "s", kept_seq: 3, cut_bytes: Buffer.from(rest).length, aside });
  expect(readFileSync(cut?.aside ?? "")).toEqual(Buffer.from(rest));
  await append(store, batch("s", 4, 5));
  await store.close();
  expect(place.read("s.jsonl")).toBe(frames("s", 1, 5));
});

test("a log that begins after seq 1 is whole: retention removed its front", async () => {
  const { place, store } = await openOn({ "s.jsonl": frames("s", 40, 50) });
  expect(await readAll(store, "s")).toBe(frames("s", 40, 50));
  expect(place.found).toMatchObject([{ event: "imported" }]);
});

test("a gap that the log itself reports is kept", async () => {
  const notice = `${JSON.stringify({ session_id: "s", seq: 9, category: "event_persist_recovered", data: { after_seq: 3 } })}\n`;
  const { place, store } = await openOn({ "s.jsonl": good + notice + frames("s", 10, 11) });
  expect(place.found).toMatchObject([{ event: "imported" }]);
  expect(Buffer.from((await store.read("s", 0, 10_000))?.bytes ?? []).toString()).toBe(good);
  expect(Buffer.from((await store.read("s", 3, 10_000))?.bytes ?? []).toString()).toBe(
    notice + frames("s", 10, 11),
  );
  await append(store, batch("s", 12));
  await store.close();
  expect(place.read("s.jsonl")).toBe(good + notice + frames("s", 10, 12));
});

test("lines longer than a chunk are imported like any other", async () => {
  const large = frame("s", 1, "x".repeat(3_000_000)) + frames("s", 2, 30_000);
  const { place, store } = await openOn({ "s.jsonl": `${large}{"to` });
  expect(await store.loadRow("s")).toMatchObject({ last_seq: 30_000 });
  expect(place.found).toMatchObject([{ cut_bytes: 4 }, { event: "imported" }]);
  expect(await readAll(store, "s")).toBe(large);
});

test("frames have the time of the file's last write, by which they age", async () => {
  const { place } = await openOn({});
  place.write("s.jsonl", good);
  utimesSync(join(place.dir, "s.jsonl"), 5, 5);
  const store = await place.open();
  expect((await store.read("s", 0, 10_000))?.stamps).toEqual([{ first_seq: 1, at_ms: 5_000 }]);
});

test("an older daemon's sidecar with its eight fields and nulls is read", async () => {
  const old = {
    session_id: "s",
    model: null,
    turns: 2,
    last_turn_at_ms: 1_700_000_000_000,
    last_turn_usage: { input_tokens: 5 },
    cumulative_usage: { input_tokens: 9, cached: 1 },
    native_session_id: "thread-1",
    rollout_path: "/r.jsonl",
  };
  const { store } = await openOn({ "s.usage.json": JSON.stringify(old), "s.jsonl": frames("s", 1, 6) });
  const found = await store.loadRow("s");
  expect(SessionRow.parse(found)).toEqual(found);
  const { model: _absent, ...kept } = old;
  const more = { backend: "codex", options: {}, last_seq: 6, started_at_ms: 1_700_000_000_000 };
  expect(found).toMatchObject({ ...kept, ...more });
  expect(found).not.toHaveProperty("model");
});

test("a sidecar of nulls only gives a valid row, and fields of a newer daemon are kept", async () => {
  const sidecar = `{"session_id":"s","turns":null,"last_turn_usage":null,"later":{"x":1}}`;
  const found = await (await openOn({ "s.usage.json": sidecar })).store.loadRow("s");
  expect(SessionRow.safeParse(found).success).toBe(true);
  expect(found).toMatchObject({ turns: 0, last_turn_usage: {}, backend: "claude", later: { x: 1 } });
});

test("a row older than the frames learns from them which turn is running", async () => {
  const line = (seq: number, fields: object) => `${JSON.stringify({ session_id: "s", seq, ...fields })}\n`;
  const begun = line(4, { category: "task_started", data: { turn_id: "t", started_at_ms: 9 } });
  const sidecar = JSON.stringify(row("s", { last_seq: 3 }));
  const running = await openOn({ "s.jsonl": good + begun, "s.usage.json": sidecar });
  expect(await running.store.loadRow("s")).toMatchObject({ turn: { turn_id: "t", started_at_ms: 9 } });
  const ended = line(5, { type: "agent.result", turn_id: "t" });
  const over = await openOn({ "s.jsonl": good + begun + ended, "s.usage.json": sidecar });
  expect(await over.store.loadRow("s")).not.toHaveProperty("turn");
});

test("seqs used by an older version are not reused, and their file is kept", async () => {
  const { place } = await openOn({});
  const marks = new SeqMarks(nodeFileSystem, join(place.root, "event-log.seqs"));
  marks.raise("s", 8);
  marks.close();
  place.write("s.jsonl", good);
  const store = await place.open();
  expect(await store.loadRow("s")).toMatchObject({ last_seq: 8, lost_after: 3 });
  expect(readFileSync(join(place.root, "event-log.seqs.imported")).length).toBeGreaterThan(0);
});

test("a lost database is filled again from the files", async () => {
  const place = new JsonlPlace();
  const before = await place.open();
  await before.append({ batches: [batch("s", 1, 9)], rows: [row("s", { turns: 3 })], sync: true });
  await before.close();
  rmSync(place.path);
  const store = await place.open();
  expect(await readAll(store, "s")).toBe(frames("s", 1, 9));
  expect(await store.loadRow("s")).toMatchObject({ turns: 3, last_seq: 9 });
  expect(place.found).toMatchObject([{ event: "imported" }]);
});

test.each([
  ["older", 1_000, { turns: 3 }],
  ["newer", 9_000, { turns: 7 }],
])(
  "a row without frames, %s than the sidecar, does not keep a log from being imported",
  async (_name, last_active_at_ms, expected) => {
    const place = new JsonlPlace();
    const { openInProcessStore } = await import("../../../src/store/index.ts");
    const before = await openInProcessStore({ path: place.path });
    await before.saveRow(row("s", { turns: 7, last_active_at_ms }));
    await before.close();
    mkdirSync(place.dir);
    place.write("s.jsonl", good);
    place.write(
      "s.usage.json",
      JSON.stringify(row("s", { turns: 3, last_seq: 3, last_active_at_ms: 5_000 })),
    );
    const store = await place.open();
    expect(await readAll(store, "s")).toBe(good);
    expect(await store.loadRow("s")).toMatchObject({ ...expected, last_seq: 3 });
    await store.close();
    expect(place.names()).toEqual(["s.jsonl", "s.usage.json"]);
  },
);

test("frames that an older version added to a known file are imported", async () => {
  const place = new JsonlPlace();
  const before = await place.open();
  await before.append({ batches: [batch("s", 1, 3)], rows: [row("s", { last_seq: 3 })], sync: true });
  await before.close();
  place.write("s.jsonl", frames("s", 1, 6));
  place.write("s.usage.json", JSON.stringify(row("s", { last_seq: 6, turns: 4 })));
  const store = await place.open();
  expect(await readAll(store, "s")).toBe(frames("s", 1, 6));
  expect(await store.loadRow("s")).toMatchObject({ last_seq: 6, turns: 4 });
  await append(store, batch("s", 7));
});

test("a session that the database has keeps its own history; the file is kept under another name", async () => {
  const place = new JsonlPlace();
  const { openInProcessStore } = await import("../../../src/store/index.ts");
  const before = await openInProcessStore({ path: place.path });
  await append(before, batch("s", 1, 2, "database"));
  await before.close();
  mkdirSync(place.dir);
  place.write("s.jsonl", good);
  const store = await place.open();
  expect(await readAll(store, "s")).toBe(frames("s", 1, 2, "database"));
  await append(store, batch("s", 3));
  await store.close();
  expect(place.read("s.jsonl")).toBe(frames("s", 1, 2, "database") + frame("s", 3));
  expect(readFileSync(place.found[0]?.aside ?? "", "utf8")).toBe(good);
});

test("two torn tails at the same moment are both kept", async () => {
  const place = new JsonlPlace();
  mkdirSync(place.dir);
  for (const rest of ["first", "second"]) {
    place.write("s.jsonl", good + rest);
    await place.open(() => 0);
    await place.close();
  }
  const kept = place.names().filter((name) => name.includes("torn"));
  expect(kept.map((name) => place.read(name)).sort()).toEqual(["first", "second"]);
});

test("the store's check of ids is the one of the protocol", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 140 }), (text) => {
      expect(isSessionId(text)).toBe(SessionId.safeParse(text).success);
    }),
  );
});
