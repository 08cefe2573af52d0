// Searches over the history of many sessions: the size of the index, how long a page takes with its texts read from the store,
// and what indexing costs. The texts are those of this repository and its packages (code, documents, JSON), cut into messages
// of the lengths and kinds that agents' sessions have, with the ids, numbers and paths that make each of them different.
import { statSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../bundle.mjs";
import { toRow } from "../rounds.mjs";

import { createRandom, createTexts } from "../texts.mjs";

const MODULES = [
  "observe/search/database.ts",
  "observe/search/query.ts",
  "sessions/views/search.ts",
  "store/in-process.ts",
];
const PER_SESSION = 400;
const PER_PART = 100;
/** Spread over as many days. */
const DAYS = 90;
const DAY_MS = 86_400_000;
const QUERIES = 2_000;
const PAGE = 20;

/** @param {import("../plan.mjs").Context} context */
export async function search({ bench, plan, progress }) {
  const { SearchDatabase, searchHistory, openInProcessStore } = await bundle(bench, MODULES);
  const dir = bench.makeDirectory();
  const path = join(dir, "search.db");
  const index = await SearchDatabase.open({ path, now: Date.now });
  const store = await openInProcessStore({ path: join(dir, "blemees.db") });
  const texts = createTexts();
  const random = createRandom(7);
  const startMs = Date.now() - DAYS * DAY_MS;
  /** @type {string[]} */
  const samples = [];
  let bytes = 0;
  let frames = 0;
  let cpu = 0;
  for (let session = 0; frames < plan.texts; session += 1) {
    const session_id = `s${session}`;
    const at_ms = startMs + Math.floor((frames / plan.texts) * DAYS * DAY_MS);
    for (let first_seq = 1; first_seq < PER_SESSION && frames < plan.texts; first_seq += PER_PART) {
      const lines = Array.from({ length: PER_PART }, (_none, at) => {
        const { frame, text } = texts.next();
        bytes += Buffer.byteLength(text);
        if (random() < 0.01) samples.push(text);
        return `${JSON.stringify({ session_id, seq: first_seq + at, ...frame })}\n`;
      });
      frames += PER_PART;
      const part = {
        session_id,
        first_seq,
        last_seq: first_seq + PER_PART - 1,
        bytes: Buffer.from(lines.join("")),
      };
      await store.append({ batches: [part], rows: [], sync: false });
      const before = process.cpuUsage();
      index.index({ ...part, agent: "claude", project: `/p${session % 20}`, stamps: [{ first_seq, at_ms }] });
      const { user, system } = process.cpuUsage(before);
      cpu += user + system;
      if (frames % 50_000 === 0) progress(`${frames} of ${plan.texts} texts`);
    }
  }
  const observer = {
    findTexts: async (/** @type {unknown} */ order) => ({ found: index.find(order), unindexed: 0 }),
  };
  const parts = { observer, store };
  const times = /** @type {number[]} */ ([]);
  const slowest = /** @type {[number, string][]} */ ([]);
  let found = 0;
  for (let at = 0; at < QUERIES; at += 1) {
    const order = makeOrder(samples[Math.floor(random() * samples.length)] ?? "", at, random);
    const began = performance.now();
    const { hits } = await searchHistory(parts, { limit: PAGE, ...order });
    const took = performance.now() - began;
    times.push(took);
    slowest.push([took, JSON.stringify(order)]);
    if (hits.length > 0) found += 1;
  }
  slowest.sort(([a], [b]) => b - a);
  for (const [took, order] of slowest.slice(0, 5)) progress(`slowest: ${took.toFixed(1)} ms ${order}`);
  progress(`${found} of ${QUERIES} searches found something`);
  index.close();
  await store.close();
  times.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => times[Math.floor(share * times.length)] ?? 0;
  const size = (100 * statSync(path).size) / bytes;
  progress(`${(bytes / 1e6).toFixed(0)} MB of text, ${(statSync(path).size / 1e6).toFixed(0)} MB of index`);
  const of = `${plan.texts} texts`;
  return [
    toRow({ id: "search.p50", measure: `a search over ${of}, p50`, store: "durable", unit: "ms" }, [at(0.5)]),
    toRow({ id: "search.p99", measure: `a search over ${of}, p99`, store: "durable", unit: "ms" }, [
      at(0.99),
    ]),
    toRow({ id: "search.size", measure: "size of the search index", store: "durable", unit: "% of text" }, [
      size,
    ]),
    toRow({ id: "search.cpu", measure: "CPU to index a text", store: "durable", unit: "µs" }, [cpu / frames]),
  ];
}

/** What people type: words, their starts and middles, phrases, frequent and missing words, and filters. @param {string} text @param {number} at @param {() => number} random */
function makeOrder(text, at, random) {
  const words = text.match(/[\p{L}\p{N}_]{3,24}/gu) ?? ["session"];
  const from = Math.floor(random() * Math.max(1, words.length - 1));
  const word = words[from] ?? "session";
  const other = words[Math.floor(random() * words.length)] ?? "session";
  const kinds = [
    { query: word },
    { query: `${word} ${other}` },
    { query: word.slice(0, 4) },
    { query: word.slice(1, 7) },
    { query: `"${word} ${words[from + 1] ?? ""}"` },
    { query: "return const" },
    { query: `${word} error`, roles: ["user", "agent"] },
    { query: word, session_id: `s${at % 50}` },
    { query: `${word} the`, project: `/p${at % 20}` },
    { query: `${other.slice(0, 3)}`, roles: ["user"] },
    { query: `qzx${at}` },
    { query: `${word} ${other} import`, from_ms: Date.now() - 7 * DAY_MS },
  ];
  return kinds[at % kinds.length] ?? { query: word };
}
