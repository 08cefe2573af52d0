// Simulated crashes of the journaled log: random appends, deletes and faults, then a kill or a power cut at a random
// moment, and the same again on what remains. `CHAOS_SEEDS=20000` for the long run.
import { expect, test } from "vitest";
import type { LogBatch, Store } from "../../../src/store/index.ts";
import type { Fault } from "../disk/fake-disk.ts";
import { LedgerModel } from "../ledger-model.ts";
import { frame, readAll, row } from "../material.ts";
import { type Random, seedCount, seededRandom } from "../random.ts";
import { firstLife, openWorld, type World } from "./world.ts";

const LONG = { timeout: 600_000 };
const SESSIONS = ["a", "b"];

/** What a client saw of one session. */
interface Told {
  lines: string[];
  /** The number of them acknowledged with `sync`, or before something that was. */
  synced: number;
  turns: number;
  /** The lines of the last append that failed. When the disk cannot even cut them off, they may come back. */
  failed: string[];
  ledger: LedgerModel;
}

type Counts = Record<"refused" | "lost" | "deleted" | "rotated" | "requestsLost", number>;

test(
  "after any crash every synced frame exists, reads return a gapless prefix, seq continues, and the ledger and the run mark match the frames",
  LONG,
  async () => {
    const seen: Counts = { refused: 0, lost: 0, deleted: 0, rotated: 0, requestsLost: 0 };
    // Real databases: one seed here for every twenty of the simulated disk.
    const seeds = Math.ceil(seedCount(400) / 20);
    for (let seed = 1; seed <= seeds; seed += 1) {
      await live(seededRandom(seed), seen).catch((cause: unknown) => {
        throw new Error(`seed ${seed}: ${String(cause)}`, { cause });
      });
    }
    // Control: the events that this test is about did happen.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  },
);

async function live(random: Random, seen: Counts): Promise<void> {
  const told = new Map(SESSIONS.map((id): [string, Told] => [id, nothingTold(id)]));
  let world = await openWorld(firstLife(300 + random(2_000)));
  for (let round = 0; round < 3; round += 1) {
    world.disk.fault = () => pickFault(random);
    for (let step = random(14); step > 0; step -= 1) await act(world, told, random, seen);
    world.disk.fault = () => undefined;
    const isKill = random(2) === 0;
    world = await world.crash(isKill ? undefined : random);
    for (const [id, session] of told) told.set(id, await check(world.store, id, session, isKill, seen));
  }
}

function nothingTold(id: string): Told {
  return { lines: [], synced: 0, turns: 0, failed: [], ledger: new LedgerModel(id) };
}

function pickFault(random: Random): Fault | undefined {
  const pick = random(50);
  if (pick === 0) return { errno: "EIO", part: random(100) };
  if (pick === 1) return { errno: "ENOSPC", part: random(100) };
  return pick === 2 ? { part: random(60) } : undefined;
}

async function act(world: World, told: Map<string, Told>, random: Random, seen: Counts): Promise<void> {
  const { store, disk } = world;
  const id = SESSIONS[random(2)] ?? "a";
  const kind = random(12);
  // Reads trigger the journal's move at random moments; on a failing disk they may fail.
  if (kind === 0) await store.read(id, 0, 100).catch(() => undefined);
  if (kind === 1) {
    const isGone = await store.delete(id).then(
      () => true,
      () => false,
    );
    if (isGone) told.set(id, nothingTold(id));
    if (isGone) seen.deleted += 1;
  }
  if (kind > 1) seen.refused += await appendSome(store, told, random);
  if (disk.paths().length > 1) seen.rotated += 1;
}

/** Appends to one or both sessions; returns how many were refused. */
async function appendSome(store: Store, told: Map<string, Told>, random: Random): Promise<number> {
  const sync = random(3) === 0;
  const chosen = SESSIONS.filter(() => random(3) > 0);
  const asking = SESSIONS.filter(() => random(2) > 0);
  const requests = asking.map((id) => told.get(id)?.ledger.offer(random) ?? []);
  const batches = chosen.map((id): LogBatch & { lines: string[] } => {
    const at = told.get(id)?.lines.length ?? 0;
    const lines = Array.from({ length: 1 + random(4) }, (_, n) =>
      frame(id, at + n + 1, `é🜁 ${random(1_000_000)}`),
    );
    const last_seq = at + lines.length;
    const run = { run_id: id, out: last_seq, err: last_seq, n: last_seq };
    return { session_id: id, first_seq: at + 1, last_seq, bytes: Buffer.from(lines.join("")), lines, run };
  });
  const rows = chosen.map((id) => row(id, { turns: (told.get(id)?.turns ?? 0) + 1 }));
  const order = { batches, rows, requests: requests.flat(), sync };
  const outcome = await Promise.resolve(store.append(order)).catch((error: Error) => {
    return [...batches, ...rows, ...order.requests].map(() => error.message);
  });
  const isStored = outcome.every((fault) => fault === undefined);
  for (const { session_id, lines } of batches)
    told.get(session_id)?.failed.splice(0, 99, ...(isStored ? [] : lines));
  if (!isStored) {
    asking.forEach((id, at) => {
      told.get(id)?.ledger.refused(requests[at] ?? []);
    });
    return 1;
  }
  for (const { session_id, lines } of batches) {
    const session = told.get(session_id);
    if (session === undefined) continue;
    session.lines.push(...lines);
    session.turns += 1;
  }
  asking.forEach((id, at) => {
    const seq = chosen.includes(id) ? told.get(id)?.lines.length : undefined;
    told.get(id)?.ledger.stored(requests[at] ?? [], { seq, isDurable: sync });
  });
  if (!sync || batches.length + order.requests.length === 0) return 0;
  // One journal: a sync covers everything before it.
  for (const session of told.values()) {
    session.synced = session.lines.length;
    session.ledger.synced();
  }
  return 0;
}

/** Compares the log with what clients saw, and continues from the log. */
async function check(store: Store, id: string, told: Told, isKill: boolean, seen: Counts): Promise<Told> {
  const found = (await readAll(store, id)).split(/(?<=\n)/).filter((line) => line !== "");
  const safe = isKill ? told.lines.length : told.synced;
  if (found.length < safe) throw new Error(`${id}: ${safe} frames are safe, ${found.length} left`);
  const offered = [...told.lines, ...told.failed].slice(0, found.length);
  if (found.join("") !== offered.join("")) throw new Error(`${id}: not what was stored`);
  const loaded = await store.loadRow(id);
  if ((loaded?.last_seq ?? 0) !== found.length) throw new Error(`${id}: the row and the log differ`);
  if (isKill && (loaded?.turns ?? 0) < told.turns) throw new Error(`${id}: the row is not the last one`);
  const mark = (await store.runMarks([id])).at(0);
  if ((mark?.out ?? 0) !== found.length) throw new Error(`${id}: the run mark and the log differ`);
  const ledger = told.ledger.check(await store.requests({ session_id: id }), found.length, isKill);
  seen.requestsLost += Number(ledger === "older");
  seen.lost += Math.max(0, told.lines.length - found.length);
  // A killed process has lost nothing, but its unsynced data is not safe yet.
  const synced = isKill ? told.synced : found.length;
  return { lines: found, synced, turns: loaded?.turns ?? 0, failed: [], ledger: told.ledger };
}
