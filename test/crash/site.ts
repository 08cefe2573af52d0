// A place where daemons live and are killed: one set of directories, one daemon after another.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, vi } from "vitest";
import type { Random } from "../store/random.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { PATIENT } from "../support/patience.ts";
import { IS_CHAOS } from "../support/sizes.ts";
import { cast, Life } from "./life.ts";
import { type Marked, markedProcesses } from "./marked.ts";
import { Tape } from "./tape.ts";

export type StoreKind = "sqlite" | "jsonl";

export interface SiteReport {
  kills: number;
  faults: string[];
  lost: number;
  frames: number;
  /** Questions that were shown. */
  asked: number;
  readyMs: number[];
  /** Children that were alive when their daemon had just died. */
  orphans: number;
  /** From the kill until the last of them was gone. */
  sweptMs: number[];
}

/** Two seconds is the promise. The gate runs on busy machines and only requires that they go. */
const SWEEP_LIMIT_MS = IS_CHAOS ? 2_000 : 45_000;
const RUN_MS = 250;
const EARLY_MS = 100;
const REPLAY_LIMIT_MS = 45_000;

export class Site {
  readonly report: SiteReport = newReport();
  readonly #kind: StoreKind;
  readonly #random: Random;
  readonly #players = cast();
  readonly #seen = new Tape();
  readonly #opened = new Set<string>();
  readonly #home = mkdtempSync(join(tmpdir(), "blemees-kill-"));
  #dead: { marked: Marked[]; atMs: number } | undefined;

  constructor(kind: StoreKind, random: Random) {
    this.#kind = kind;
    this.#random = random;
  }

  /** Start, check what the last one left, stream, and a kill at a random moment. */
  async killOnce(): Promise<void> {
    const daemon = await this.#start();
    const life = new Life({ daemon, players: this.#players, seen: this.#seen, opened: this.#opened });
    await life.begin();
    // Now and then it dies while the sessions are still being opened and replayed.
    const isEarly = this.#random(8) === 0;
    if (!isEarly) {
      await replayed(life);
      await vi.waitFor(() => expect(life.asked).toBeGreaterThan(1), PATIENT);
    }
    await sleep(this.#random(isEarly ? EARLY_MS : RUN_MS));
    await this.#kill(daemon, life);
  }

  /** The last life only looks, then ends in the orderly way. */
  async close(): Promise<void> {
    const daemon = await this.#start();
    const life = new Life({
      daemon,
      players: this.#players,
      seen: this.#seen,
      opened: this.#opened,
      isQuiet: true,
    });
    await life.begin();
    await replayed(life);
    this.#take(life);
    this.report.frames = this.#seen.frameCount;
    this.report.faults.push(...this.#seen.faults);
    if (this.#seen.unstored > 0) this.report.faults.push(`${this.#seen.unstored} frames were not stored`);
    await daemon.close();
    rmSync(this.#home, { recursive: true, force: true });
  }

  async #start(): Promise<TestDaemon> {
    const startedMs = performance.now();
    const log = this.#kind === "jsonl" ? { BLEMEESD_EVENT_LOG_DIR: join(this.#home, "log") } : {};
    const env = { BLEMEESD_LOG_LEVEL: "warn", BLEMEESD_RING_BUFFER_SIZE: "64", ...log };
    const daemon = await startDaemon({ home: this.#home, env });
    if (this.#dead !== undefined) this.report.readyMs.push(performance.now() - startedMs);
    await this.#waitForSweep(daemon.socket);
    return daemon;
  }

  async #waitForSweep(socket: string): Promise<void> {
    const dead = this.#dead;
    if (dead === undefined) return;
    const limitMs = performance.now() + SWEEP_LIMIT_MS;
    for (;;) {
      const living = new Set(markedProcesses(socket).map(({ daemon, pid }) => `${daemon} ${pid}`));
      const left = dead.marked.filter(({ daemon, pid }) => living.has(`${daemon} ${pid}`));
      if (left.length === 0) break;
      if (performance.now() > limitMs) {
        this.report.faults.push(`${left.length} children outlived their daemon by ${SWEEP_LIMIT_MS} ms`);
        return;
      }
      await sleep(10);
    }
    this.report.sweptMs.push(performance.now() - dead.atMs);
  }

  async #kill(daemon: TestDaemon, life: Life): Promise<void> {
    await daemon.kill("SIGKILL");
    this.#dead = { marked: markedProcesses(daemon.socket), atMs: performance.now() };
    this.report.kills += 1;
    this.report.orphans += this.#dead.marked.length;
    // What was on its way when it died still arrives.
    await Promise.all(life.clients.map((client) => client.closed));
    if (daemon.log().includes('"event":"internal"')) this.report.faults.push(daemon.log());
    this.#take(life);
  }

  #take(life: Life): void {
    this.report.lost += life.lost;
    this.report.asked += life.asked;
    this.report.faults.push(...life.faults);
  }
}

export function newReport(): SiteReport {
  return { kills: 0, faults: [], lost: 0, frames: 0, asked: 0, readyMs: [], orphans: 0, sweptMs: [] };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function replayed(life: Life): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not replayed:\n${life.pending}`)), REPLAY_LIMIT_MS);
  });
  await Promise.race([life.replayed, late]).finally(() => clearTimeout(timer));
}
