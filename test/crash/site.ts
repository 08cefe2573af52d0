// A directory where daemons run and are killed, one after another.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
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
  /** Requests that were shown. */
  asked: number;
  readyMs: number[];
  /** Children that were alive when their daemon had just died. */
  orphans: number;
  /** From the kill until the last of them was gone. */
  sweptMs: number[];
}

/** The promise is two seconds. The gate runs on busy machines and only requires that they exit. */
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

  /** Starts, checks what the last one left, streams, and is killed at a random moment. */
  async killOnce(): Promise<void> {
    const daemon = await this.#start();
    const life = new Life({ daemon, players: this.#players, seen: this.#seen, opened: this.#opened });
    await life.begin();
    // Sometimes it dies while the sessions are still being opened and replayed.
    const isEarly = this.#random(8) === 0;
    if (!isEarly) {
      await replayed(life);
      await vi.waitFor(() => expect(life.asked).toBeGreaterThan(1), PATIENT);
    }
    await sleep(this.#random(isEarly ? EARLY_MS : RUN_MS));
    await this.#kill(daemon, life);
  }

  /** The last run only looks, then shuts down normally. */
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
    await daemon.kill("SIGTERM");
    if (this.#kind === "jsonl") this.#checkFiles();
    await daemon.close();
    rmSync(this.#home, { recursive: true, force: true });
  }

  /** Each session's file has exactly the lines that clients saw, once and in order. */
  #checkFiles(): void {
    for (const [session_id, seen] of this.#seen.sessions) {
      const text = readFileSync(join(this.#home, "log", `${session_id}.jsonl`), "utf8");
      const lines = text.split("\n").slice(0, -1);
      const isSame = [...seen].every(([seq, line]) => lines[seq - 1] === line);
      const isInOrder = lines.every((line, at) => (JSON.parse(line) as { seq: number }).seq === at + 1);
      if (!isSame || !isInOrder) this.report.faults.push(`${session_id}.jsonl is not what clients saw`);
    }
  }

  async #start(): Promise<TestDaemon> {
    const startedMs = performance.now();
    const log = this.#kind === "jsonl" ? { BLEMEESD_EVENT_LOG_DIR: join(this.#home, "log") } : {};
    // On pipes agents end with the daemon, and each kill has something to clean up.
    const pipes = { BLEMEESD_AGENT_STDIO: "pipes" };
    const env = { BLEMEESD_LOG_LEVEL: "warn", BLEMEESD_RING_BUFFER_SIZE: "64", ...pipes, ...log };
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
    // Frames that were in transit when it died still arrive.
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
