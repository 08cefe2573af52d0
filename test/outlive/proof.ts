// The proof that agents outlive the daemon: sessions of several kinds of agents stream and ask while their daemons are
// killed, replaced and stopped at random moments. Afterwards checker.ts looks at every session.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitAtMost } from "../../src/base/child.ts";
import { defined } from "../../src/base/values.ts";
import { type Client, connect, HttpClient } from "../../src/client/index.ts";
import { type Random, seededRandom } from "../store/random.ts";
import { type LaunchedDaemon, launchDaemon } from "../support/daemon.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { findFaults } from "./checker.ts";
import type { Kind } from "./kinds.ts";
import { insist, Player, sleep } from "./player.ts";

export interface ProofOptions {
  /** Of the daemon and its agents; removed at the end. */
  home: string;
  /** For the daemon. */
  env: Record<string, string>;
  /** Instead of the built daemon. */
  program?: string;
  seed: number;
  cast: readonly { kind: Kind; asks: boolean }[];
  kills: number;
  takeovers: number;
  /** How often the daemon is stopped with SIGSTOP, and for how long. */
  stops: number;
  stopMs: number;
}

export interface ProofReport {
  faults: string[];
  kills: number;
  /** Besides: kills of daemons that were still starting. */
  earlyKills: number;
  takeovers: number;
  stops: number;
  turns: number;
  frames: number;
  requests: number;
  /** Sum over the faults: requests that were open then. */
  openOverFaults: number;
  /** Of each adopted process. */
  adoptedMs: number[];
  /** From the daemon's listening to the adoption of each process, by its log. */
  adoptedAfterMs: number[];
  /** The same until the last one. */
  allAdoptedMs: number[];
  /** From the daemon's listening until it answered a client's question about its sessions. */
  readyMs: number[];
}

type Fault = "kill" | "takeover" | "stop";

/** The longest time from one fault to the next. */
const RUN_MS = 250;
/** A daemon that is killed early is killed within this time after its start, or at a moment of its adoption. */
const EARLY_MS = 500;
const MANY_ATTEMPTS = 6;
/** A directory for the evidence of a proof that fails. */
const KEEP = process.env["OUTLIVE_KEEP"];
const RECONNECT = { initialMs: 20, maxMs: 100 };
/** In the log of a daemon, these mean that something was not continued. */
const BAD_EVENTS: ReadonlySet<unknown> = new Set([
  "run.not_adopted",
  "run.adoption_failed",
  "run.not_kept",
  "daemon.orphans_swept",
  "session.recover_failed",
  "store.append_failed",
  "internal",
]);

export async function prove(options: ProofOptions): Promise<ProofReport> {
  const proof = new Proof(options);
  try {
    await proof.run();
  } finally {
    await proof.close();
  }
  return proof.report;
}

class Proof {
  readonly report: ProofReport = {
    ...{ faults: [], kills: 0, earlyKills: 0, takeovers: 0, stops: 0, turns: 0, frames: 0, requests: 0 },
    ...{ openOverFaults: 0, adoptedMs: [], adoptedAfterMs: [], allAdoptedMs: [], readyMs: [] },
  };
  readonly #options: ProofOptions;
  readonly #random: Random;
  readonly #home: string;
  readonly #socket: string;
  readonly #runs: string;
  readonly #http: HttpClient;
  readonly #following: HttpClient;
  readonly #players: Player[] = [];
  #watching: Client | undefined;
  #daemon: LaunchedDaemon | undefined;
  #lives = 0;

  constructor(options: ProofOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#home = options.home;
    this.#socket = join(this.#home, "run/blemeesd.sock");
    this.#runs = join(this.#home, "state/blemees/runs");
    this.#http = new HttpClient({ socket: this.#socket, retry: false });
    this.#following = new HttpClient({ socket: this.#socket, retry: RECONNECT });
  }

  async run(): Promise<void> {
    await this.#start();
    this.#watching = await this.#patiently(connect({ socket: this.#socket, reconnect: RECONNECT }));
    const { cast, seed } = this.#options;
    for (const [at, { kind, asks }] of cast.entries()) {
      this.#players.push(
        new Player({
          ...{ kind, asks, http: this.#http, name: `${kind.backend}${at}` },
          random: seededRandom(seed * 100 + at),
          follower: at % 2 === 0 ? this.#following : this.#watching,
        }),
      );
    }
    await this.#patiently(Promise.all(this.#players.map((player) => player.begin())));
    for (const fault of this.#plan()) {
      await this.#patiently(this.#untilTrusted());
      await sleep(this.#random(RUN_MS));
      for (const player of this.#players) {
        if (player.isAsked) this.report.openOverFaults += 1;
        player.beforeFault();
      }
      await this.#commit(fault);
      if (this.#players.some(({ faults }) => faults.length > 0)) break;
    }
    await this.#end();
  }

  async close(): Promise<void> {
    const daemon = this.#daemon?.daemon;
    this.#watching?.close();
    await waitAtMost(PATIENCE_MS, Promise.all(this.#players.map((player) => player.close())));
    await waitAtMost(PATIENCE_MS, Promise.resolve(daemon?.close()));
    await daemon?.kill("SIGKILL");
    for (const { pid } of findLeft(this.#home)) process.kill(pid, "SIGKILL");
    rmSync(this.#home, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The faults in random order. */
  #plan(): Fault[] {
    const { kills, takeovers, stops } = this.#options;
    const plan: Fault[] = [...Array<Fault>(takeovers).fill("takeover"), ...Array<Fault>(stops).fill("stop")];
    const places = kills + plan.length;
    const order = Array<Fault>(places).fill("kill");
    for (const fault of plan) {
      let at = this.#random(places);
      while (order[at] !== "kill") at = (at + 1) % places;
      order[at] = fault;
    }
    return order;
  }

  /** An agent that was adopted by many daemons which died at once is not adopted again; that is not the subject here. */
  async #untilTrusted(): Promise<void> {
    const runs = this.#runs;
    const attempts = () => listFiles(runs).map((id) => join(runs, id, "attempts"));
    if (!attempts().some((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= MANY_ATTEMPTS))
      return;
    while (attempts().some((path) => existsSync(path))) await sleep(RECONNECT.initialMs);
  }

  async #commit(fault: Fault): Promise<void> {
    const { report } = this;
    const before = this.#running;
    if (fault === "stop") {
      report.stops += 1;
      process.kill(before.daemon.pid, "SIGSTOP");
      await sleep(this.#options.stopMs);
      process.kill(before.daemon.pid, "SIGCONT");
    } else if (fault === "takeover") {
      report.takeovers += 1;
      const next = this.#launch(["--takeover"]);
      await this.#patiently(before.daemon.exited);
      this.#readLog(before);
      await this.#untilReady(next);
    } else {
      report.kills += 1;
      await this.#kill(before);
      // The next one may die in its start, and the one after it too.
      while (this.#random(3) === 0) {
        report.earlyKills += 1;
        await this.#killEarly();
      }
      await this.#start();
    }
  }

  async #kill(launched: LaunchedDaemon): Promise<void> {
    await launched.daemon.kill("SIGKILL");
    this.#readLog(launched);
  }

  async #killEarly(): Promise<void> {
    const launched = this.#launch();
    const over = launched.daemon.exited.then(() => undefined);
    const logged = (text: string, count = 1) => launched.logged(text, count).catch(() => undefined);
    const processes = new Set(this.#options.cast.map(({ kind }) => kind.backend)).size;
    const moment = this.#random(4);
    if (moment === 0) await Promise.race([sleep(this.#random(EARLY_MS)), over]);
    else if (moment === 1) await this.#patiently(Promise.race([logged('"event":"daemon.start"'), over]));
    else {
      const adopted = logged('"event":"run.adopted"', 1 + this.#random(processes));
      // At the latest when all adoption is over: some processes may have been refused.
      const answered = insist(() => this.#http.sessions()).catch(() => undefined);
      await this.#patiently(Promise.race([adopted, over, answered]));
    }
    await this.#kill(launched);
  }

  async #start(): Promise<void> {
    await this.#untilReady(this.#launch());
  }

  #launch(args: string[] = []): LaunchedDaemon {
    this.#keepState();
    const { env, program } = this.#options;
    this.#daemon = launchDaemon({ home: this.#home, args, env, ...defined({ program }) });
    return this.#daemon;
  }

  get #running(): LaunchedDaemon {
    if (this.#daemon === undefined) throw new Error("no daemon was started");
    return this.#daemon;
  }

  async #untilReady(launched: LaunchedDaemon): Promise<void> {
    await this.#patiently(launched.logged('"event":"daemon.start"'));
    const listeningMs = performance.now();
    await this.#patiently(insist(() => this.#http.sessions()));
    if (this.#players.length > 0) this.report.readyMs.push(performance.now() - listeningMs);
  }

  /** Lets every turn end, looks at the history, and stops everything. */
  async #end(): Promise<void> {
    const { report } = this;
    await this.#patiently(Promise.all(this.#players.map((player) => player.drain())));
    for (const player of this.#players) {
      report.faults.push(...player.faults);
      const testimony = await this.#patiently(player.testify());
      if (KEEP !== undefined) writeFileSync(join(KEEP, player.name), JSON.stringify(testimony, undefined, 1));
      report.faults.push(...findFaults(testimony));
      report.turns += player.turnCount;
      report.requests += player.requestCount;
      report.frames += testimony.history.length;
    }
    await this.#patiently(Promise.all(this.#players.map(({ session_id }) => this.#http.stop(session_id))));
    await this.#patiently(this.#untilNothingIsLeft());
    await this.#patiently(this.#running.daemon.kill("SIGTERM"));
    this.#readLog(this.#running);
  }

  async #untilNothingIsLeft(): Promise<void> {
    while (findLeft(this.#home).length > 0 || listFiles(this.#runs).length > 0)
      await sleep(RECONNECT.initialMs);
  }

  /** Evidence: what each daemon finds. */
  #keepState(): void {
    this.#lives += 1;
    const state = join(this.#home, "state/blemees");
    if (KEEP === undefined || !existsSync(state)) return;
    execFileSync("cp", ["-a", state, join(KEEP, `before-${this.#lives}`)]);
  }

  #readLog({ daemon }: LaunchedDaemon): void {
    const { report } = this;
    if (KEEP !== undefined) writeFileSync(join(KEEP, `log-${this.#lives}`), daemon.log());
    let startedMs = Number.NaN;
    let lastMs = Number.NaN;
    for (const line of daemon.log().split("\n").slice(0, -1)) {
      const entry = parse(line);
      const { event, ts, took_ms } = entry;
      const atMs = Date.parse(String(ts));
      if (event === "daemon.start") startedMs = atMs;
      if (event === "run.adopted") {
        lastMs = atMs;
        report.adoptedMs.push(Number(took_ms));
        report.adoptedAfterMs.push(atMs - startedMs);
      }
      if (BAD_EVENTS.has(event) || entry["level"] === "error") report.faults.push(line);
    }
    if (!Number.isNaN(lastMs)) report.allAdoptedMs.push(lastMs - startedMs);
  }

  /** A failure says what everyone was waiting for. */
  async #patiently<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        const states = this.#players.map(({ state }) => state);
        const left = findLeft(this.#home).map(({ pid, command }) => `${pid} ${command}`);
        const faults = [...this.report.faults, ...this.#players.flatMap((player) => player.faults)];
        reject(new Error(["late", ...faults, ...states, ...left, this.#daemon?.daemon.log()].join("\n")));
      }, PATIENCE_MS);
    });
    return Promise.race([work, late]).finally(() => clearTimeout(timer));
  }
}

/** Ends agents that would outlive their daemon. */
export function killLeft(home: string): void {
  for (const { pid } of findLeft(home)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It went away by itself.
    }
  }
}

/** Processes of agents that were started in this home. */
export function findLeft(home: string): { pid: number; command: string }[] {
  const found: { pid: number; command: string }[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const entries = readFileSync(`/proc/${name}/environ`, "utf8").split("\0");
      const isAgent = entries.some((entry) => entry.startsWith("BLEMEES_RUN_ID="));
      if (!isAgent || !entries.includes(`HOME=${home}`)) continue;
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      found.push({ pid: Number(name), command });
    } catch {
      // It went away while we looked.
    }
  }
  return found;
}

function listFiles(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}

function parse(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    // Cut by the kill.
    return {};
  }
}
