// The real side of the model: a real hub and ledger with a store that outlives them, scripted agents, two owners and a
// watcher that receive everything.
import type { Ask } from "../../src/backends/types.ts";
import { silentLog } from "../../src/base/log.ts";
import type { RequestRow } from "../../src/protocol/requests.ts";
import type { Client, RespondOrder, SessionHub } from "../../src/sessions/index.ts";
import type { PolicyPort } from "../../src/sessions/requests/types.ts";
import type { Store } from "../../src/store/index.ts";
import { Ear, FakeBackend, type FakeRun, gate, type Heard, user } from "../sessions/fakes.ts";
import type { Clock } from "./clock.ts";
import { Disk, type Life, lifeOf } from "./disk.ts";
import { EXPIRY_MS, RULED, ruledAnswer } from "./model.ts";

/** The sessions layer: the real one, or one with a seeded bug. */
export type Sessions = typeof import("../../src/sessions/index.ts");

/** Idle turns of the event loop after which nothing more is expected. */
const QUIET_TURNS = 3;

export interface WorldOptions {
  sessions: Sessions;
  store: Store;
  clock: Clock;
  /** Unique to each sequence, so that sequences can share a store. */
  session_ids: readonly string[];
}

interface Daemon {
  hub: SessionHub;
  backend: FakeBackend;
  life: Life;
}

export class World {
  readonly disk: Disk;
  readonly session_ids: readonly string[];
  /** Of all daemon processes, in the order they started. */
  readonly agents: FakeRun[] = [];
  /** The owner's subscription to each session. */
  readonly ears: (Ear | undefined)[] = [];
  /** Notices published before their content was stored. */
  readonly tooEarly: string[] = [];
  readonly #options: WorldOptions;
  readonly #gates = new Map<FakeRun, () => void>();
  readonly #owners: Client[];
  readonly #watcher: Client = { id: "bob" };
  #daemon: Daemon;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.session_ids = options.session_ids;
    this.disk = new Disk(options.store);
    this.#owners = options.session_ids.map((id) => ({ id: `owner of ${id}` }));
    this.#daemon = this.#start();
  }

  get hub(): SessionHub {
    return this.#daemon.hub;
  }

  /** Waits until only halted work is left. */
  async quiet(): Promise<void> {
    for (let idle = 0; idle < QUIET_TURNS; idle += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#daemon.life.busy() > 0) idle = -1;
    }
  }

  async pass(ms: number): Promise<void> {
    await this.#options.clock.advance(ms, () => this.quiet());
    await this.quiet();
  }

  async open(session: number, isNew = false): Promise<void> {
    const session_id = this.#id(session);
    const ear = this.#ear();
    const order = { session_id, backend: "fake", resume: !isNew, options: {} };
    const answers = session === 0 ? "owner" : "any";
    const { attachment } = await this.hub.open(this.owner(session), ear, { ...order, answers });
    attachment.start();
    this.ears[session] = ear;
    const watched = await this.hub.watch(this.#watcher, this.#ear(), session_id, undefined);
    watched.attachment.start();
    this.#adopt();
    await this.quiet();
  }

  async send(session: number): Promise<void> {
    await this.hub.send(this.owner(session), this.#id(session), user("go on"));
    this.#adopt();
  }

  async close(session: number, isDeleted: boolean): Promise<void> {
    const how = { delete: isDeleted, deleteTranscript: false };
    await this.hub.close(this.owner(session), this.#id(session), how);
  }

  async interrupt(session: number, agent: number): Promise<void> {
    this.#agent(agent).asked.clear();
    await this.hub.interrupt(this.owner(session), this.#id(session), () => undefined);
  }

  respond(
    session: number,
    who: "owner" | "watcher",
    order: Pick<RespondOrder, "request_id" | "answer" | "shown_hash">,
  ): Promise<{ request: RequestRow; repeated: boolean }> {
    const client = who === "owner" ? this.owner(session) : this.#watcher;
    return this.hub.respond(client, { ...order, session_id: this.#id(session), source: "api" });
  }

  detach(session: number): void {
    this.hub.detach(this.owner(session));
  }

  ask(agent: number, ask: Ask): void {
    this.#agent(agent).ask(ask);
  }

  withdraw(agent: number, native_id: string): void {
    this.#agent(agent).withdraw(native_id);
  }

  crash(agent: number): void {
    this.#agent(agent).end(false, 1);
  }

  endTurn(agent: number): void {
    this.#agent(agent).result();
  }

  /** It takes no answers until `hear`. */
  deafen(agent: number): void {
    const run = this.#agent(agent);
    const { open, passed } = gate();
    run.deaf = passed;
    this.#gates.set(run, open);
  }

  hear(agent: number): void {
    const run = this.#agent(agent);
    this.#gates.get(run)?.();
    run.deaf = undefined;
  }

  /** As after a kill: the old daemon is no longer used. */
  async restart(): Promise<void> {
    this.#daemon.life.cut();
    this.disk.release();
    this.disk.failing = false;
    this.#options.clock.clear();
    this.ears.fill(undefined);
    this.#daemon = this.#start();
    await this.hub.requests({});
    await this.quiet();
  }

  /** Removes what the sequence left in the store. */
  async end(): Promise<void> {
    this.#daemon.life.cut();
    this.disk.release();
    this.#options.clock.clear();
    for (const session_id of this.session_ids) await this.disk.store.delete(session_id);
  }

  owner(session: number): Client {
    const owner = this.#owners[session];
    if (owner === undefined) throw new Error(`no session ${session}`);
    return owner;
  }

  async frames(session: number): Promise<Heard[]> {
    const frames: Heard[] = [];
    let after = 0;
    for (;;) {
      const batch = await this.disk.store.read(this.#id(session), after, 1 << 20);
      if (batch === undefined) return frames;
      for (const line of Buffer.from(batch.bytes).toString().split("\n"))
        if (line !== "") frames.push(JSON.parse(line) as Heard);
      after = batch.last_seq;
    }
  }

  #start(): Daemon {
    const { sessions } = this.#options;
    const life = lifeOf(this.disk);
    const log = silentLog;
    const { store } = life;
    const backend = new FakeBackend();
    const publisher = sessions.createPublisher(store, log);
    const ready = sessions.recoverSessions(store, publisher, log);
    const policy = this.#policy();
    const ledger = new sessions.Ledger({ store, publisher, log, expiryMs: EXPIRY_MS, policy });
    const limits = { maxSessions: 8, maxSessionsPerClient: 8 };
    const stderrRate = { lines: 50, windowMs: 10_000 };
    const parts = { store, publisher, ledger, log, ready, limits, stderrRate };
    const hub = new sessions.SessionHub({ ...parts, backends: [backend], ringSize: 1024, env: {} });
    return { hub, backend, life };
  }

  /** Rules by the first word of the command. What they decide on is tested elsewhere. */
  #policy(): PolicyPort {
    const kindOf = ({ payload }: RequestRow) => RULED.find((kind) => payload.command?.startsWith(`${kind} `));
    return {
      takeFault: () => undefined,
      mayDecide: (row) => kindOf(row) !== undefined,
      decide: async (row) => {
        await new Promise((resolve) => setImmediate(resolve));
        const answer = ruledAnswer(kindOf(row) ?? "referred");
        return answer === undefined ? undefined : { answer, rule_id: this.rule_id, release: () => undefined };
      },
    };
  }

  /** Of all rules of this sequence. */
  get rule_id(): string {
    return `rule-of-${this.#id(0)}`;
  }

  #id(session: number): string {
    return this.session_ids[session] ?? "";
  }

  #agent(index: number): FakeRun {
    const run = this.agents[index];
    if (run === undefined) throw new Error(`no agent ${index}`);
    return run;
  }

  /** Agents started since the last call. One that ends drops its undelivered input. */
  #adopt(): void {
    for (const run of this.#daemon.backend.runs) {
      if (this.agents.includes(run)) continue;
      this.agents.push(run);
      const end = run.end.bind(run);
      run.end = (...args) => {
        end(...args);
        this.#gates.get(run)?.();
      };
    }
  }

  #ear(): Ear {
    const ear = new Ear();
    const write = ear.write.bind(ear);
    ear.write = (batch) => {
      const before = ear.heard.length;
      write(batch);
      for (const frame of ear.heard.slice(before)) this.#check(frame);
    };
    return ear;
  }

  #check(frame: Heard): void {
    const { request } = (frame["data"] ?? {}) as { request?: RequestRow };
    if (request === undefined) return;
    const state = `${request.request_id} ${request.status}`;
    if (!("seq" in frame) || !this.disk.states.has(state)) this.tooEarly.push(state);
  }
}
