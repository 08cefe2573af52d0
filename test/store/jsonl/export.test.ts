// The JSONL files that follow the database: which files exist, and what happens to files changed by others.
import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { append, batch, frame, frames, NO_LIMITS, readAll, row } from "../material.ts";
import { JsonlPlace } from "./place.ts";

test("a session has exactly <id>.jsonl and <id>.usage.json, private to the user", async () => {
  const place = new JsonlPlace();
  const store = await place.open();
  await store.append({ batches: [batch("s", 1, 2)], rows: [row("s", { turns: 1 })], sync: true });
  await store.close();
  expect(place.names()).toEqual(["s.jsonl", "s.usage.json"]);
  expect(place.read("s.jsonl")).toBe(frames("s", 1, 2));
  expect(place.read("s.usage.json")).toBe(`${JSON.stringify(row("s", { turns: 1 }))}\n`);
  expect(statSync(place.dir).mode & 0o777).toBe(0o700);
  for (const name of place.names()) expect(statSync(join(place.dir, name)).mode & 0o777).toBe(0o600);
});

test("files follow appends without being asked, and retention", async () => {
  const place = new JsonlPlace();
  const store = await place.open();
  await append(store, batch("s", 1, 300));
  await expect.poll(() => place.read("s.jsonl")).toBe(frames("s", 1, 300));
  await store.prune({ ...NO_LIMITS, maxRowsPerSession: 10 });
  await expect.poll(() => place.read("s.jsonl")).toBe(frames("s", 291, 300));
  await append(store, batch("s", 301, 305));
  await place.open();
  expect(place.read("s.jsonl")).toBe(frames("s", 291, 305));
  expect(place.found).toEqual([]);
});

test("a large history is written in pieces, whole", async () => {
  const place = new JsonlPlace();
  const store = await place.open();
  const text = "x".repeat(700_000);
  for (let seq = 1; seq <= 12; seq += 1) await append(store, batch("s", seq, seq, text));
  await store.close();
  expect(place.read("s.jsonl")).toBe(frames("s", 1, 12, text));
});

test("sessions from before the files were enabled are written too", async () => {
  const place = new JsonlPlace();
  const { openInProcessStore } = await import("../../../src/store/index.ts");
  const before = await openInProcessStore({ path: place.path });
  for (const id of ["a", "b"])
    await before.append({ batches: [batch(id, 1, 3)], rows: [row(id)], sync: true });
  await before.close();
  await place.open();
  await expect.poll(() => place.names()).toHaveLength(4);
  expect(place.read("b.jsonl")).toBe(frames("b", 1, 3));
});

test("delete removes the session's files, including copies, and no other file", async () => {
  const place = new JsonlPlace();
  const store = await place.open();
  const others = [
    "s.txt",
    "s.jsonl.bak",
    "s.jsonl.torn-20260101T000000000Z.jsonl",
    "x.jsonl",
    "s-2.usage.json",
  ];
  await store.append({ batches: [batch("s", 1)], rows: [row("s")], sync: true });
  await expect.poll(() => place.names()).toHaveLength(2);
  for (const name of [...others, "s.jsonl.torn-20260101T000000000Z"]) place.write(name, "");
  await store.delete("s");
  expect(place.names()).toEqual(others.sort());
});

test("a session that is deleted while its files cannot be removed does not come back", async () => {
  const place = new JsonlPlace();
  const store = await place.open();
  await append(store, batch("s", 1, 3));
  await expect.poll(() => place.read("s.jsonl")).toBe(frames("s", 1, 3));
  // A directory of that name cannot be unlinked.
  mkdirSync(join(place.dir, "s.usage.json"));
  await store.delete("s");
  expect(place.found).toMatchObject([{ event: "export_failed" }]);
  const next = await place.open();
  expect(await next.loadRow("s")).toBeUndefined();
  await append(next, batch("s", 1));
  rmSync(join(place.dir, "s.usage.json"), { recursive: true });
  await place.open();
  expect(place.read("s.jsonl")).toBe(frame("s", 1));
});

test.each([
  ["cut", (path: string) => truncateSync(path, 100)],
  ["removed", (path: string) => rmSync(path)],
  ["emptied", (path: string) => truncateSync(path, 0)],
])("a file that was %s is written again from the database and reported", async (_name, spoil) => {
  const place = new JsonlPlace();
  await append(await place.open(), batch("s", 1, 9));
  await place.close();
  spoil(join(place.dir, "s.jsonl"));
  const store = await place.open();
  await append(store, batch("s", 10));
  await store.close();
  expect(place.read("s.jsonl")).toBe(frames("s", 1, 10));
  expect(place.found).toMatchObject([{ session_id: "s", message: expect.stringContaining("written again") }]);
});

test("an existing file at the path of a new session's log is kept under another name", async () => {
  const place = new JsonlPlace();
  const store = await place.open();
  place.write("s.jsonl", "notes\n");
  await append(store, batch("s", 1, 2));
  await store.close();
  expect(place.read("s.jsonl")).toBe(frames("s", 1, 2));
  expect(place.found[0]?.aside).toMatch(/s\.jsonl\.replaced-\d{8}T\d{9}Z$/);
  expect(readFileSync(place.found[0]?.aside ?? "", "utf8")).toBe("notes\n");
});

test("a session whose file cannot be written does not delay the others", async () => {
  const place = new JsonlPlace();
  const store = await place.open();
  mkdirSync(join(place.dir, "s.jsonl"));
  await append(store, batch("s", 1));
  await expect.poll(() => place.found).toMatchObject([{ event: "export_failed", session_id: "s" }]);
  for (let seq = 1; seq <= 3; seq += 1) {
    await append(store, batch("s", seq + 1), batch("t", seq));
    await expect
      .poll(() => place.names().includes("t.jsonl") && place.read("t.jsonl"))
      .toBe(frames("t", 1, seq));
  }
  rmdirSync(join(place.dir, "s.jsonl"));
  await store.close();
  expect(place.read("s.jsonl")).toBe(frames("s", 1, 4));
  expect(place.found).toMatchObject([{ event: "export_failed" }, { event: "export_resumed" }]);
});

test("the file of an id that differs by case only is not touched", async () => {
  const place = new JsonlPlace();
  const store = await place.open();
  place.write("s.jsonl", frames("S", 1, 3));
  await append(store, batch("s", 1));
  await store.close();
  expect(place.read("s.jsonl")).toBe(frames("S", 1, 3));
  expect(place.found).toMatchObject([
    { event: "export_failed", message: expect.stringMatching(/is the file of S/) },
  ]);
});

test("the database alone is the store: without the files everything still exists", async () => {
  const place = new JsonlPlace();
  await append(await place.open(), batch("s", 1, 5));
  await place.close();
  rmSync(place.dir, { recursive: true });
  const store = await place.open();
  expect(await readAll(store, "s")).toBe(frames("s", 1, 5));
  await expect.poll(() => place.names()).toEqual(["s.jsonl"]);
});

test("a directory that is named in another way is the same one", async () => {
  const place = new JsonlPlace();
  const before = await place.open();
  await before.append({ batches: [batch("s", 1, 3)], rows: [row("s")], sync: true });
  await before.close();
  const link = join(place.root, "link");
  symlinkSync(place.dir, link);
  const { openInProcessStore } = await import("../../../src/store/index.ts");
  for (const dir of [`${place.dir}/`, link]) {
    const found: unknown[] = [];
    const onRecovery = (one: unknown) => found.push(one);
    const store = await openInProcessStore({ path: place.path, jsonl: { dir } }, { onRecovery });
    await store.close();
    expect(found).toEqual([]);
  }
  expect(place.names()).toEqual(["s.jsonl", "s.usage.json"]);
});

test("deleting a session whose files failed removes them at once", async () => {
  const place = new JsonlPlace();
  const store = await place.open();
  await append(store, batch("s", 1));
  await expect.poll(() => place.names()).toEqual(["s.jsonl"]);
  const blocked = join(place.dir, "s.usage.json");
  mkdirSync(blocked);
  await store.saveRow(row("s"));
  await expect.poll(() => place.found).toMatchObject([{ event: "export_failed" }]);
  rmdirSync(blocked);
  await store.delete("s");
  expect(place.names()).toEqual([]);
});
