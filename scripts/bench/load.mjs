// One reader process with its sessions open on a target. Every figure it returns has passed the check that each event
// arrived exactly once and in order: a fast daemon that loses frames must not look good.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";

/**
 * The reader's output for one order (reader.c).
 * @typedef {{ frames: number, bytes: number, deltas: number, results: number, missing: number, duplicates: number, unnumbered: number, gaps: number, elapsed_ns: number, first_frame_ns: number, first_delta_ns: number, samples: number, p50_ns: number, p99_ns: number }} Figures
 */

export class Load {
  #child;
  #lines;
  #watchers = 0;
  /** @type {Figures | undefined} of opening or resuming */
  opened;

  /**
   * @param {import("./workbench.mjs").Workbench} bench
   * @param {string} reader
   * @param {string} socketPath
   * @param {readonly string[]} ids
   */
  constructor(bench, reader, socketPath, ids) {
    this.ids = ids;
    this.sessions = ids.length;
    this.#child = bench.start(reader, [socketPath, ...ids], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdin.on("error", () => {}); // the process exited; #order reports it
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /**
   * @param {import("./plan.mjs").Context} context
   * @param {string} socketPath
   * @param {number} sessions
   */
  static async open({ bench, tools }, socketPath, sessions) {
    const ids = Array.from({ length: sessions }, () => randomUUID());
    const load = new Load(bench, tools.reader, socketPath, ids);
    load.opened = await load.#order("open");
    return load;
  }

  /**
   * Opens sessions that an earlier run of the daemon left in the store, and reads their whole history.
   * @param {import("./plan.mjs").Context} context
   * @param {string} socketPath
   * @param {readonly string[]} ids
   */
  static async resume({ bench, tools }, socketPath, ids) {
    const load = new Load(bench, tools.reader, socketPath, ids);
    load.opened = await load.#order("resume");
    checkOrder(load.opened);
    return load;
  }

  /** @param {number} events in all sessions together */
  flood(events) {
    const each = Math.round(events / this.sessions);
    return this.#turn(`turn flood ${each}`, each);
  }

  /**
   * @param {number} rate a second
   * @param {number} seconds
   */
  pace(rate, seconds) {
    return this.#turn(`timed pace ${rate} ${seconds}`, Math.round(rate * seconds));
  }

  say() {
    return this.#turn("turn say", 1);
  }

  /**
   * The round trip of a request that does nothing.
   * @param {number} count
   */
  ping(count) {
    return this.#order(`ping ${count}`);
  }

  /**
   * Adds watchers of the first session. Their frames are counted and checked like the owner's.
   * @param {number} count
   */
  async attach(count) {
    await this.#order(`attach ${count}`);
    this.#watchers += count;
  }

  /** Reads each session's whole history on a new connection. */
  async watch() {
    const figures = await this.#order("watch");
    checkOrder(figures);
    return figures;
  }

  async close() {
    const gone = once(this.#child, "exit");
    this.#child.stdin.end();
    await gone;
  }

  /**
   * @param {string} order
   * @param {number} deltas expected in each session
   */
  async #turn(order, deltas) {
    const figures = await this.#order(order);
    checkOrder(figures);
    const expected = deltas * (this.sessions + this.#watchers);
    if (figures.deltas !== expected) {
      throw new Error(`"${order}": expected ${expected} agent.delta frames, got ${figures.deltas}`);
    }
    return figures;
  }

  /**
   * @param {string} order
   * @returns {Promise<Figures>}
   */
  async #order(order) {
    this.#child.stdin.write(`${order}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`the reader exited during "${order}"; see its error on stderr`);
    return JSON.parse(value);
  }
}

/** @param {Figures} figures */
export function checkOrder(figures) {
  const { missing, duplicates, unnumbered, gaps } = figures;
  if (missing + duplicates + unnumbered + gaps === 0) return;
  throw new Error(
    `wrong frames: ${missing} missing, ${duplicates} duplicate, ${unnumbered} without seq, ${gaps} replay_gap`,
  );
}
