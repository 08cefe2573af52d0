// The contract of every durable store for run marks; part of conformance.ts.
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { append, batch, frames, MARKED, mark, marked, NO_LIMITS, readAll, row, tempDir } from "./material.ts";

type Open = (opening: { dir: string; now(): number }) => Promise<Store>;

/** A file may be larger than 32 bits can count. */
const LARGE = 5_000_000_001;

export function testRunMarks(name: string, open: Open): void {
  const openFresh = async (dir = tempDir()): Promise<Store> => {
    const store = await open({ dir, now: Date.now });
    onTestFinished(() => store.close());
    return store;
  };

  test(`${name}: a run mark is stored with its batch, and the newest one counts`, async () => {
    const store = await openFresh();
    expect(await store.runMarks(MARKED)).toEqual([]);
    await append(store, marked(batch("b", 1, 2), "r-b", 0), marked(batch("a", 1), "r-a", 10));
    expect(await store.runMarks(MARKED)).toEqual([mark("a", "r-a", 10), mark("b", "r-b", 0)]);
    await append(store, marked(batch("a", 2), "r-a", 20), marked(batch("a", 3), "r-a", LARGE));
    expect(await store.runMarks(MARKED)).toEqual([mark("a", "r-a", LARGE), mark("b", "r-b", 0)]);
    // Another run of the session starts at the beginning of its files.
    const order = { batches: [marked(batch("a", 4), 'é\u2028"', 3)], rows: [row("a")], sync: true };
    expect(await store.append(order)).toEqual([undefined, undefined]);
    expect(await store.runMarks(MARKED)).toEqual([mark("a", 'é\u2028"', 3), mark("b", "r-b", 0)]);
  });

  test(`${name}: a batch without a run mark leaves the mark, and a read does not return it`, async () => {
    const store = await openFresh();
    await append(store, marked(batch("s", 1, 3), "r", 10), batch("other", 1));
    await append(store, batch("s", 4));
    await store.saveRow(row("s"));
    await store.prune({ ...NO_LIMITS, maxRowsPerSession: 1 });
    expect(await store.runMarks(MARKED)).toEqual([mark("s", "r", 10)]);
    expect(await store.read("s", 0, 1_000)).not.toHaveProperty("run");
  });

  test(`${name}: a refused batch leaves the run mark as it was`, async () => {
    const store = await openFresh();
    await append(store, marked(batch("s", 1, 5), "r", 10));
    const refused = [batch("s", 5), batch("s", 7), { ...batch("s", 6), bytes: new Uint8Array(0) }];
    for (const bad of [...refused, batch("new", 2)]) {
      const batches = [marked(bad, "r", 20), marked(batch(`ok${bad.first_seq}`, 1), "ok", 1)];
      const [fault] = await store.append({ batches, rows: [], sync: true });
      expect(fault).toEqual(expect.any(String));
      await store.delete(`ok${bad.first_seq}`);
      expect(await store.runMarks(MARKED)).toEqual([mark("s", "r", 10)]);
    }
    await append(store, batch("s", 6), batch("new", 1));
    expect(await store.runMarks(MARKED)).toEqual([mark("s", "r", 10)]);
  });

  test(`${name}: a batch whose run mark is not made of offsets is refused, with its frames`, async () => {
    const store = await openFresh();
    for (const offset of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      for (const part of [{ out: offset }, { err: offset }, { n: offset }]) {
        const bad = { ...batch("s", 1), run: { run_id: "r", out: 1, err: 1, n: 1, ...part } };
        const outcome = await store.append({ batches: [bad], rows: [], sync: false });
        expect(outcome).toEqual([expect.stringMatching(/a run mark needs numbers/)]);
      }
    }
    expect(await store.read("s", 0, 1_000)).toBeUndefined();
    expect(await store.runMarks(MARKED)).toEqual([]);
    await append(store, marked(batch("s", 1), "r", 1));
  });

  test(`${name}: delete removes the run mark of that session only, for good`, async () => {
    const dir = tempDir();
    const before = await open({ dir, now: Date.now });
    for (const id of ["a", "a.b", "ab"]) await append(before, marked(batch(id, 1, 2), `r-${id}`, 10));
    await before.delete("a");
    const rest = [mark("a.b", "r-a.b", 10), mark("ab", "r-ab", 10)];
    expect(await before.runMarks(MARKED)).toEqual(rest);
    await append(before, batch("a", 1));
    await before.close();
    expect(await (await openFresh(dir)).runMarks(MARKED)).toEqual(rest);
  });

  test(`${name}: run marks survive a restart, and continue`, async () => {
    const dir = tempDir();
    const before = await open({ dir, now: Date.now });
    await append(before, marked(batch("s", 1, 2), "r", 10), marked(batch("t", 1), "r-t", 7));
    await append(before, marked(batch("s", 3), "r", LARGE));
    await before.close();
    const after = await openFresh(dir);
    expect(await after.runMarks(MARKED)).toEqual([mark("s", "r", LARGE), mark("t", "r-t", 7)]);
    await append(after, marked(batch("s", 4), "r", LARGE + 1));
    expect(await after.runMarks(MARKED)).toEqual([mark("s", "r", LARGE + 1), mark("t", "r-t", 7)]);
    expect(await readAll(after, "s")).toBe(frames("s", 1, 4));
  });
}
