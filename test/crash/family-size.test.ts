// One lead with many children on a real daemon, all of them demo agents: what they do while the lead is busy costs it one
// turn, the list stays quick, and memory is given back. FAMILY_CHILDREN sets another size; the figures are checked at 50.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { HttpClient, type InputRecord } from "../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { PATIENT } from "../support/patience.ts";
import { figure, spread } from "./figure.ts";

const CHILDREN = Number(process.env["FAMILY_CHILDREN"] ?? 8);
const isMeasured = CHILDREN >= 50;
const MAX_LIST_MS = 100;
const MAX_GROWTH_MB = 50;

let daemon: TestDaemon;
let http: HttpClient;
let lead: string;
let ids: string[] = [];
let atStart: number;
beforeAll(async () => {
  daemon = await startDaemon({ env: { BLEMEESD_LOG_LEVEL: "warn" } });
  http = new HttpClient({ socket: daemon.socket });
  const order = { backend: "demo", name: "lead", options: { pace_ms: 0 }, prompt: "approve it" };
  lead = (await http.spawn(order)).session.session_id;
  await http.wait(lead, { until: ["blocked"] });
  atStart = readMegabytes();
});
afterAll(() => daemon.close());

const names = Array.from({ length: CHILDREN }, (_, at) => `kid-${at}`);
const listMs: number[] = [];

test("a family that works while its lead is busy costs the lead one turn, which names every child", async () => {
  ids = await Promise.all(names.map((name) => spawnChild(name)));
  await untilAllRest(ids);
  // The second message of each: another wake per child, for the same turn of the lead.
  await Promise.all(ids.map((id) => http.input(id, { text: "and again" })));
  await untilAllRest(ids);
  await vi.waitFor(async () => {
    expect((await http.queue(lead)).queued.length).toBe(Math.min(2 * CHILDREN, 100));
  }, PATIENT);

  const wakes = await untilWakesAreDone(2 * CHILDREN);
  const { turns } = await http.session(lead);
  const wakeTurns = new Set(wakes.map(({ turn_id }) => turn_id)).size;
  // The queue has room for 100 wakes: what did not fit comes in a turn after that.
  if (2 * CHILDREN <= 100) expect(wakeTurns).toBe(1);
  expect(wakeTurns).toBeLessThanOrEqual(turns);
  const told = await readWakeTexts();
  expect(told).toHaveLength(wakeTurns);
  for (const name of names) expect(told.join("\n").split(`"${name}"`)).toHaveLength(3);
  expect(told[0]).toContain(`${Math.min(2 * CHILDREN, 100)} events about your child sessions:`);
  figure(
    `family: ${wakes.length} events of ${CHILDREN} children in ${wakeTurns} of the lead's ${turns} turns`,
  );
});

test("while the lead is free it sees at most one wake per turn, and each event once; memory stops growing", async () => {
  const before = readMegabytes();
  await Promise.all(ids.map((id) => http.input(id, { text: "once more" })));
  await untilAllRest(ids);
  const wakes = await untilWakesAreDone(3 * CHILDREN);
  const { turns } = await http.session(lead);
  const wakeTurns = new Set(wakes.map(({ turn_id }) => turn_id)).size;
  expect(wakeTurns).toBeLessThanOrEqual(1 + turns);
  const told = await readWakeTexts();
  expect(told).toHaveLength(wakeTurns);
  for (const name of names) expect(told.join("\n").split(`"${name}"`)).toHaveLength(4);
  const after = readMegabytes();
  figure(
    `family: ${wakes.length} events in ${wakeTurns} of ${turns} turns; list of ${CHILDREN + 1} sessions ` +
      `${spread(listMs)} ms; daemon ${atStart} MB alone, ${before} → ${after} MB`,
  );
  if (!isMeasured) return;
  expect(listMs.toSorted((a, b) => a - b)[listMs.length >> 1]).toBeLessThan(MAX_LIST_MS);
  expect(after - before).toBeLessThan(MAX_GROWTH_MB);
});

async function spawnChild(name: string): Promise<string> {
  const order = { backend: "demo", name, parent: lead, options: { pace_ms: 5 }, prompt: `say ${name}` };
  return (await http.spawn(order)).session.session_id;
}

/** Lists all sessions meanwhile, as a manager's screen does. */
async function untilAllRest(ids: readonly string[]): Promise<void> {
  let isOver = false;
  const rest = Promise.all(ids.map((id) => http.wait(id, { until: ["idle"] }))).then(() => {
    isOver = true;
  });
  do {
    const startedMs = performance.now();
    expect((await http.sessions()).length).toBe(CHILDREN + 1);
    listMs.push(performance.now() - startedMs);
  } while (!isOver);
  await rest;
}

/** The demo also asks if a wake quotes its word for that. */
async function answerLead(): Promise<void> {
  for (const { request_id } of await http.allRequests({ session_id: lead }))
    await http.respond(lead, request_id, { decision: "accept" });
}

/** Each has had its turn, once. */
async function untilWakesAreDone(count: number): Promise<InputRecord[]> {
  return vi.waitFor(async () => {
    await answerLead();
    const { recent, queued } = await http.queue(lead);
    const wakes = recent.filter(({ kind }) => kind === "wake");
    expect(queued).toEqual([]);
    expect(wakes).toHaveLength(count);
    expect(wakes.every(({ state, outcome }) => state === "done" && outcome === "success")).toBe(true);
    return wakes;
  }, PATIENT);
}

/** The messages that the lead's agent was given. */
async function readWakeTexts(): Promise<string[]> {
  const { events } = await http.events(lead, { limit: 1000 });
  return events.flatMap(({ frame }) => {
    const data = frame["data"] as { kind?: string; merged_into?: string } | undefined;
    const isWake = frame["category"] === "input_delivered" && data?.kind === "wake";
    return isWake && data.merged_into === undefined ? [String(frame["text"])] : [];
  });
}

function readMegabytes(): number {
  if (process.platform !== "linux") return 0;
  const status = readFileSync(`/proc/${daemon.pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
