// The queries of session rows that every durable store answers alike: see test/support/row-queries.ts for what they mean.
import { expect, onTestFinished, test } from "vitest";
import type { SessionRow } from "../../src/protocol/session.ts";
import type { RowFilter, Store } from "../../src/store/index.ts";
import { countRows, findKin, selectRows } from "../support/row-queries.ts";
import type { Opening } from "./conformance.ts";
import { append, batch, row, tempDir } from "./material.ts";

const MESSAGE = { role: "user" as const, content: "go on" };
const QUEUE = [{ message_id: "m", kind: "user" as const, message: MESSAGE, queued_at_ms: 1 }];
const WAKES = [{ wake_id: "w", kind: "finished" as const, at_ms: 1, text: "done" }];

/** A family of four generations, one of a deleted parent, a circle, and one of every other kind. */
function makeRows(): SessionRow[] {
  const made = [
    row("root", { name: "lead", cwd: "/w" }),
    row("child-1", { parent: "root", name: "helper", started_at_ms: 50 }),
    row("child-2", { parent: "root", name: "helper", cwd: "/w", started_at_ms: 40, backend: "codex" }),
    row("grandchild", { parent: "child-2", native_session_id: "n-1" }),
    row("last", { parent: "grandchild", native_session_id: "n-2", spawn: { key: "k-1", hash: "h" } }),
    row("orphan", { parent: "deleted", spawn: { key: "k-2", hash: "h" } }),
    row("circle-a", { parent: "circle-b" }),
    row("circle-b", { parent: "circle-a" }),
    row("turning", { turn: { turn_id: "t", started_at_ms: 1 } }),
    row("queueing", { queue: QUEUE, cwd: "/w" }),
    row("waking", { wakes: WAKES, backend: "codex" }),
    row("emptied", { queue: [], wakes: [] }),
    row("Upper.Case_1"),
  ];
  // Several were active in the same millisecond.
  return made.map((one, index) => ({ ...one, last_active_at_ms: 1_000 + (index % 4) }));
}

const FILTERS: readonly RowFilter[] = [
  {},
  { ids: ["root", "last", "nobody"] },
  { ids: [] },
  { native_ids: ["n-2", "n-1", "n-3"] },
  { family: "root" },
  { family: "child-2" },
  { family: "circle-a" },
  { family: "nobody" },
  { unfinished: true },
  { spawn_key: "k-1" },
  { spawn_key: "none" },
  { prefix: "child-" },
  { prefix: "c" },
  { prefix: "Upper.C" },
  { prefix: "zz" },
  { name: "helper" },
  { name: "helper", cwd: "/w" },
  { name: 'it\'s "odd" 🜁' },
  { parent: "root" },
  { parent: "root", backend: "codex" },
  { cwd: "/w" },
  { cwd: "/w", backend: "claude" },
  { backend: "codex" },
];

export function testRows(name: string, open: (opening: Opening) => Promise<Store>): void {
  const openFilled = async (): Promise<{ store: Store; rows: SessionRow[] }> => {
    const store = await open({ dir: tempDir(), now: Date.now });
    onTestFinished(() => store.close());
    const rows = makeRows();
    for (const one of rows) await store.saveRow(one);
    return { store, rows };
  };

  test(`${name}: rows are selected by each filter, most recently active first`, async () => {
    const { store, rows } = await openFilled();
    for (const filter of FILTERS)
      expect([filter, await store.rows(filter)]).toEqual([filter, selectRows(rows, filter)]);
  });

  test(`${name}: pages of rows have each row once, in the same order`, async () => {
    const { store, rows } = await openFilled();
    for (const filter of FILTERS) {
      const found: SessionRow[] = [];
      for (let page = await store.rows({ ...filter, limit: 2 }); page.length > 0; ) {
        found.push(...page);
        const after = page.at(-1);
        page = after === undefined ? [] : await store.rows({ ...filter, after, limit: 2 });
      }
      expect([filter, found]).toEqual([filter, selectRows(rows, filter)]);
    }
  });

  test(`${name}: relatives are found for stored, deleted and unknown sessions`, async () => {
    const { store, rows } = await openFilled();
    const ids = [...rows.map(({ session_id }) => session_id), "deleted", "nobody"];
    expect(await store.kin(ids)).toEqual(findKin(rows, ids));
    await store.delete("child-2");
    const left = rows.filter(({ session_id }) => session_id !== "child-2");
    expect(await store.kin(ids)).toEqual(findKin(left, ids));
    expect(await store.kin([])).toEqual([]);
  });

  test(`${name}: rows are counted by backend`, async () => {
    const { store, rows } = await openFilled();
    expect(await store.countRows()).toEqual(countRows(rows));
    // A log without a row is no session.
    await append(store, batch("only-frames", 1));
    expect(await store.countRows()).toEqual(countRows(rows));
  });

  test(`${name}: a row that changes is found by what it has now`, async () => {
    const { store } = await openFilled();
    const { turn: _ended, ...rest } = row("turning", { turn: { turn_id: "t", started_at_ms: 1 } });
    await store.saveRow({ ...rest, name: "new", last_active_at_ms: 9_000 });
    const ids = async (filter: RowFilter) => (await store.rows(filter)).map(({ session_id }) => session_id);
    expect(await ids({ unfinished: true })).not.toContain("turning");
    expect(await ids({ name: "new" })).toEqual(["turning"]);
    expect(await ids({ limit: 1 })).toEqual(["turning"]);
  });
}
