// Simulated crashes of the JSONL log (SAFETY.md, "Figures"): random appends, random faults, then a kill or a power
// cut at a random moment, and the same again on what is left. `CHAOS_SEEDS=20000` for the long run.
import { expect, test } from "vitest";
import { openJsonlDriver } from "../../../src/store/jsonl/driver.ts";
import type { Driver, LogBatch, Recovery } from "../../../src/store/types.ts";
import { FakeDisk, type Fault } from "../disk/fake-disk.ts";
import { LedgerModel } from "../ledger-model.ts";
import { frame, NO_LIMITS, row, text } from "../material.ts";
import { forEachSeed, type Random, seedCount } from "../random.ts";

const LONG = { timeout: 600_000 };
const SESSIONS = ["a", "b"];

/** What a client was told about one session. */
interface Told {
  lines: string[];
  /** This many of them were acknowledged with `sync`. */
  synced: number;
  turns: number;
  ledger: LedgerModel;
}

interface World {
  disk: FakeDisk;
  random: Random;
  told: Map<string, Told>;
  /** Every line ever handed to the log. */
  offered: Set<string>;
  crash: "kill" | "power cut";
}

test(
  "after any crash every synced frame is there, what is read is a gapless prefix, seq goes on, and the ledger is that of the frames",
  LONG,
  () => {
    const seen = {
      refused: 0,
      recovered: 0,
      unsyncedLost: 0,
      pruned: 0,
      requestsLost: 0,
      requestsBack: 0,
      requestsMoved: 0,
    };
    forEachSeed(seedCount(400), (random) => {
      const world: World = {
        disk: new FakeDisk(),
        random,
        told: new Map(),
        offered: new Set(),
        crash: "power cut",
      };
      for (const id of SESSIONS) {
        world.told.set(id, { lines: [], synced: 0, turns: 0, ledger: new LedgerModel(id) });
      }
      for (let round = 0; round < 3; round += 1) {
        const driver = openOn(world.disk, () => {
          seen.recovered += 1;
        });
        for (const id of SESSIONS) {
          seen.unsyncedLost += checkSession(world, driver, id);
          const found = checkLedger(world, driver, id);
          seen.requestsLost += Number(found === "older");
          seen.requestsBack += Number(found === "refused");
        }
        world.disk.fault = () => pickFault(random);
        for (let step = random(12); step > 0; step -= 1) seen.refused += appendSome(world, driver);
        if (random(4) === 0) seen.pruned += pruneSome(world, driver);
        seen.requestsMoved += Number(world.disk.paths().some((path) => path.endsWith(".settled.ndjson")));
        crash(world);
      }
    });
    // The control: the faults that this test is about did happen.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  },
);

test("a crash test that loses synced frames would notice", () => {
  const disk = new FakeDisk();
  const driver = openOn(disk);
  const told = { lines: [frame("a", 1)], synced: 1, turns: 0, ledger: new LedgerModel("a") };
  expect(driver.append({ batches: [toBatch("a", 1, told.lines)], rows: [], sync: false })).toEqual([
    undefined,
  ]);
  disk.powerCut(() => 0);
  const world: World = {
    disk,
    random: () => 0,
    told: new Map([["a", told]]),
    offered: new Set(),
    crash: "power cut",
  };
  expect(() => checkSession(world, openOn(disk), "a")).toThrow(/synced/);
});

function openOn(disk: FakeDisk, onRecovery: (recovery: Recovery) => void = () => undefined): Driver {
  return openJsonlDriver("/log", { now: () => 0, onRecovery }, disk);
}

function pickFault(random: Random): Fault | undefined {
  const pick = random(60);
  if (pick === 0) return { errno: "EIO", part: random(100) };
  if (pick === 1) return { errno: "ENOSPC", part: random(100) };
  // Half a write without an error; the rest of it is asked for again.
  return pick === 2 ? { part: 1 + random(30) } : undefined;
}

/** Appends to one or both sessions; how many were refused. */
function appendSome({ random, told, offered }: World, driver: Driver): number {
  const sync = random(3) === 0;
  const chosen = SESSIONS.filter(() => random(3) > 0);
  const orders = chosen.map((id) => {
    const at = told.get(id)?.lines.length ?? 0;
    const lines = Array.from({ length: 1 + random(5) }, (_, n) => {
      return frame(id, at + n + 1, `${offered.size}-${n} é🜁 ${"x".repeat(random(60))}`);
    });
    for (const line of lines) offered.add(line);
    const requests = random(2) === 0 ? (told.get(id)?.ledger.offer(random) ?? []) : [];
    // Some come without frames.
    const isBare = requests.length > 0 && random(3) === 0;
    const batches = isBare ? [] : [toBatch(id, at + 1, lines)];
    return { id, lines: isBare ? [] : lines, batches, requests, hasRow: !isBare && random(2) === 0 };
  });
  const rows = orders.filter((order) => order.hasRow).map(({ id }) => row(id, { turns: offered.size }));
  const batches = orders.flatMap((order) => order.batches);
  const requests = orders.flatMap((order) => order.requests);
  const outcome = driver.append({ batches, rows, requests, sync });
  for (const order of orders) {
    const session = told.get(order.id);
    if (session === undefined) continue;
    const [batch] = order.batches;
    const [request] = order.requests;
    const requestAt = batches.length + rows.length + (request === undefined ? 0 : requests.indexOf(request));
    const isStored = outcome[batch === undefined ? requestAt : batches.indexOf(batch)] === undefined;
    if (isStored) session.lines.push(...order.lines);
    if (isStored && sync && batch !== undefined) session.synced = session.lines.length;
    if (isStored && order.hasRow) session.turns = offered.size;
    const seq = batch === undefined ? undefined : session.lines.length;
    if (request === undefined) continue;
    if (isStored !== (outcome[requestAt] === undefined)) throw new Error(`${order.id}: half an outcome`);
    if (isStored) session.ledger.stored(order.requests, { seq, isDurable: sync || seq === undefined });
    else session.ledger.refused(order.requests);
  }
  return outcome.filter((entry) => entry !== undefined).length;
}

/** Retention may fail on a failing disk, but never loses what it was to keep. */
function pruneSome({ random, told }: World, driver: Driver): number {
  const limits = { ...NO_LIMITS, maxRowsPerSession: 1 + random(8) };
  try {
    return driver.prune(limits, 0).events;
  } catch {
    return 0;
  } finally {
    // From here on only what the limit keeps must be there; checkSession takes a later beginning.
    for (const session of told.values())
      session.lines.fill("", 0, Math.max(0, session.lines.length - limits.maxRowsPerSession));
  }
}

function crash(world: World): void {
  world.crash = world.random(2) === 0 ? "kill" : "power cut";
  if (world.crash === "kill") world.disk.kill();
  else world.disk.powerCut(world.random);
}

/** Compares the log with what was told; how many unsynced frames were lost. Then takes the log's word. */
function checkSession({ told, offered, crash }: World, driver: Driver, id: string): number {
  const session = told.get(id) ?? { lines: [], synced: 0, turns: 0, ledger: new LedgerModel(id) };
  const loaded = driver.loadRow(id);
  const found = readLines(driver, id);
  // A kill loses nothing that was written; a power cut loses nothing that was synced.
  const safe = crash === "kill" ? session.lines.length : session.synced;
  const last = found.at(-1)?.seq ?? loaded?.last_seq ?? 0;
  if (last < safe) throw new Error(`${id}: ${safe} frames synced or safe, ${last} left`);
  if ((loaded?.last_seq ?? 0) !== last)
    throw new Error(`${id}: the row says ${loaded?.last_seq}, the log ${last}`);
  if ((loaded?.turns ?? 0) < session.turns)
    throw new Error(`${id}: the row of turn ${session.turns} is gone`);
  const first = found.at(0)?.seq ?? last + 1;
  session.lines.slice(0, first - 1).forEach((line, at) => {
    if (line !== "" && at < safe) throw new Error(`${id}: synced frame ${at + 1} is gone`);
  });
  for (const { seq, line } of found) {
    const wanted = session.lines[seq - 1];
    if (wanted === "" || wanted === line) continue;
    if (wanted !== undefined || !offered.has(line))
      throw new Error(`${id}: frame ${seq} is not what was stored`);
  }
  const lost = Math.max(0, session.lines.length - last);
  const kept = Array.from({ length: last }, (_, at) => found.find(({ seq }) => seq === at + 1)?.line ?? "");
  // What a power cut left is on the disk; what a kill left may still be in memory only.
  const isDurable = crash === "power cut";
  const turns = isDurable ? (loaded?.turns ?? 0) : session.turns;
  told.set(id, { ...session, lines: kept, synced: isDurable ? last : session.synced, turns });
  return lost;
}

function checkLedger({ told, crash }: World, driver: Driver, id: string): string {
  const session = told.get(id);
  if (session === undefined) return "none";
  return session.ledger.check(driver.requests({ session_id: id }), session.lines.length, crash === "kill");
}

/** All frames in order; throws when a seq is missing or doubled. */
function readLines(driver: Driver, id: string): { seq: number; line: string }[] {
  const found: { seq: number; line: string }[] = [];
  for (let after = 0; ; ) {
    const part = driver.read(id, after, 200);
    if (part === undefined) return found;
    for (const line of text(part).split("\n").slice(0, -1)) {
      const seq = (JSON.parse(line) as { seq: number }).seq;
      const before = found.at(-1)?.seq;
      if (before !== undefined && seq !== before + 1) throw new Error(`${id}: seq ${seq} behind ${before}`);
      found.push({ seq, line: `${line}\n` });
    }
    after = part.last_seq;
  }
}

function toBatch(session_id: string, first_seq: number, lines: string[]): LogBatch {
  return {
    session_id,
    first_seq,
    last_seq: first_seq + lines.length - 1,
    bytes: Buffer.from(lines.join("")),
  };
}
