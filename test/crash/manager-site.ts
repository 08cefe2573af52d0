// A directory where daemons are killed while messages, spawns and wakes are on their way: one receiver of messages, one
// parent with many children, and spawned sessions. At the end everything is looked up.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InputRecord } from "../../src/protocol/queue.ts";
import { HttpClient } from "../servers/http-load/http-client.ts";
import type { Random } from "../store/random.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { carryOut, type Errand, transcripts, wasCut } from "./errand.ts";

export interface ManagerReport {
  kills: number;
  faults: string[];
  messages: number;
  spawns: number;
  wakes: number;
  /** Of all these: their turn had begun when the daemon died. */
  cut: number;
  /** Of those: the agent had not received it. */
  unseen: number;
  /** Of those: wakes, which are not sent again. */
  unseenWakes: number;
  /** Asked in one run, answered in a later one. */
  retried: number;
}

/** How long daemons live after the last answer, and after one in between. */
const WORK_MS = 300;
const INSTANT_MS = 8;
const MESSAGES_A_LIFE = 6;
const SPAWNS_A_LIFE = 1;
const CHILDREN_A_LIFE = 2;
const ERRANDS_A_LIFE = MESSAGES_A_LIFE + SPAWNS_A_LIFE + CHILDREN_A_LIFE;
const WAKE_LIMIT_MS = 45_000;
const ENV = {
  BLEMEESD_LOG_LEVEL: "warn",
  BLEMEESD_MAX_SESSIONS: "1000",
  BLEMEESD_MAX_CHILDREN: "1000",
  BLEMEESD_MAX_FAMILY_SIZE: "1000",
};

export class ManagerSite {
  readonly report = newManagerReport();
  readonly #random: Random;
  readonly #home = mkdtempSync(join(tmpdir(), "blemees-errand-"));
  readonly #errands: Errand[] = [];
  /** Not yet asked again, in a later run, with an answer. */
  #open: Errand[] = [];
  #receiver = "";
  #parent = "";
  #answered: () => void = () => undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  async killOnce(): Promise<void> {
    const { daemon, http } = await this.#start();
    if (this.#receiver === "") await this.#settle(http);
    const older = this.#open.map((errand) => [errand]);
    const asked = [...this.#chains(), ...older].map((chain) => this.#ask(http, chain));
    await this.#moment(http, Promise.all(asked));
    await daemon.kill("SIGKILL");
    await Promise.all(asked);
    http.close();
    this.report.kills += 1;
    this.#note(daemon);
  }

  /** One of three, none of which depends on the speed of the machine. */
  async #moment(http: HttpClient, all: Promise<unknown>): Promise<void> {
    const worked = all.then(() => sleep(this.#random(WORK_MS)));
    const kind = this.#random(3);
    if (kind === 0) await worked;
    // A wake is on its way now.
    else if (kind === 1) await Promise.race([this.#childEnds(http), worked]);
    else await Promise.race([this.#answers(this.#random(ERRANDS_A_LIFE)), worked]);
    await sleep(this.#random(INSTANT_MS));
  }

  #answers(count: number): Promise<void> {
    let left = count;
    return new Promise((resolve) => {
      if (left === 0) resolve();
      this.#answered = () => {
        left -= 1;
        if (left === 0) resolve();
      };
    });
  }

  async #childEnds(http: HttpClient): Promise<void> {
    const changes = await http.stream("/events");
    const isEnd = ({ event = "", data = "" }) =>
      event === "session" &&
      data.includes(`"parent":"${this.#parent}"`) &&
      data.includes('"activity_state":"idle"') &&
      data.includes('"turns":1');
    await changes.until(({ events }) => events.some(isEnd)).catch(() => undefined);
    changes.close();
  }

  /** The last run does what is left, and everything is counted. */
  async close(): Promise<void> {
    const { daemon, http } = await this.#start();
    await Promise.all(this.#open.map((errand) => this.#ask(http, [errand])));
    if (this.#open.length > 0) this.#fault(`${this.#open.length} errands without an answer: ${daemon.log()}`);
    const spawned = this.#errands.flatMap(({ path, session_id }) =>
      path === "/sessions" && session_id ? [session_id] : [],
    );
    for (const id of [this.#receiver, ...spawned]) await this.#untilIdle(http, id);
    await this.#untilWoken(http);
    await this.#untilIdle(http, this.#parent);
    await this.#check(http);
    this.#note(daemon);
    http.close();
    await daemon.close();
    rmSync(this.#home, { recursive: true, force: true });
  }

  async #start(): Promise<{ daemon: TestDaemon; http: HttpClient }> {
    const daemon = await startDaemon({ home: this.#home, env: ENV });
    return { daemon, http: new HttpClient(daemon.socket) };
  }

  async #settle(http: HttpClient): Promise<void> {
    this.#receiver = await http.spawn({ backend: "claude", approvals: false, name: "receiver" });
    this.#parent = await http.spawn({ backend: "claude", approvals: false, name: "parent" });
  }

  /** New errands; those of one chain are requested one after another. */
  #chains(): Errand[][] {
    const life = this.report.kills;
    const make = (kind: string, n: number, path: string, more: object): Errand => {
      const key = `${kind}-${life}-${n}`;
      const text = kind === "child" ? `errand ${key}` : `errand ${key} #slow 2 ${this.#random(20)}`;
      const field = path === "/sessions" ? "prompt" : "text";
      return { key, path, text, body: { ...more, [field]: text } };
    };
    const list = (count: number, one: (n: number) => Errand) =>
      Array.from({ length: count }, (_, n) => one(n));
    const chains = [
      list(MESSAGES_A_LIFE, (n) => make("message", n, `/sessions/${this.#receiver}/input`, {})),
      list(SPAWNS_A_LIFE, (n) => make("spawn", n, "/sessions", { backend: "claude", approvals: false })),
      list(CHILDREN_A_LIFE, (n) =>
        make("child", n, "/sessions", {
          backend: "demo",
          parent: this.#parent,
          options: { pace_ms: this.#random(3) },
        }),
      ),
    ];
    for (const chain of chains) {
      this.#errands.push(...chain);
      this.#open = [...this.#open, ...chain];
    }
    return chains;
  }

  async #ask(http: HttpClient, chain: readonly Errand[]): Promise<void> {
    for (const errand of chain) {
      const wasAnswered = errand.session_id !== undefined;
      const isOld = !errand.key.includes(`-${this.report.kills}-`);
      let faults: string[];
      try {
        faults = await carryOut(http, errand);
      } catch {
        return; // the daemon died before it answered
      }
      if (!isOld) this.#answered();
      for (const fault of faults) this.#fault(fault);
      // An answered one is asked again in a later run.
      if (isOld) this.#open = this.#open.filter((one) => one !== errand);
      if (isOld && !wasAnswered) this.report.retried += 1;
    }
  }

  async #untilIdle(http: HttpClient, session_id: string): Promise<void> {
    const { reason } = await http.get(`/sessions/${session_id}/wait?until=idle&timeout_s=20`);
    if (reason !== "idle")
      this.#fault(`${session_id}: ${reason}: ${JSON.stringify(await this.#records(http, session_id))}`);
  }

  /** Every child has notified its parent. */
  async #untilWoken(http: HttpClient): Promise<void> {
    const limitMs = performance.now() + WAKE_LIMIT_MS;
    const children = this.#children();
    for (;;) {
      const { queued, recent } = await http.get(`/sessions/${this.#parent}/queue`);
      const known = [...queued, ...recent] as InputRecord[];
      if (children.every((id) => known.some(({ message_id }) => message_id.startsWith(`wake_${id}_`))))
        return;
      if (performance.now() > limitMs) return; // the check reports which
      await sleep(20);
    }
  }

  #children(): string[] {
    return this.#errands.flatMap(({ body, session_id = "" }) =>
      body["parent"] === undefined ? [] : [session_id],
    );
  }

  async #records(http: HttpClient, session_id: string): Promise<InputRecord[]> {
    const { queued, recent } = await http.get(`/sessions/${session_id}/queue`);
    if (queued.length > 0) this.#fault(`${session_id}: ${queued.length} messages still wait`);
    return (recent as InputRecord[]).toReversed();
  }

  async #check(http: HttpClient): Promise<void> {
    const got = transcripts(this.#home);
    const isMessage = ({ key }: Errand) => key.startsWith("message");
    const messages = this.#errands.filter(isMessage);
    this.report.messages += messages.length;
    this.#compare(await this.#records(http, this.#receiver), got.get(this.#receiver) ?? [], messages);
    for (const errand of this.#errands.filter(({ key }) => key.startsWith("spawn"))) {
      const { session_id = "" } = errand;
      this.report.spawns += 1;
      this.#compare(await this.#records(http, session_id), got.get(session_id) ?? [], [errand]);
    }
    await this.#checkWakes(await this.#records(http, this.#parent), got.get(this.#parent) ?? []);
  }

  /** Records are in the order in which they were queued, and the agent must have received them in that order. */
  #compare(records: readonly InputRecord[], texts: readonly string[], errands: readonly Errand[]): void {
    const byId = new Map(errands.map((errand) => [errand.message_id, errand]));
    if (records.length !== errands.length)
      this.#fault(`${errands.length} errands, ${records.length} records`);
    const left = [...texts];
    for (const record of records) {
      const errand = byId.get(record.message_id);
      if (errand === undefined) this.#fault(`a message that was never sent: ${JSON.stringify(record)}`);
      else this.#take(record, left, (text) => text === errand.text);
    }
    for (const text of left) this.#fault(`given to the agent twice, or out of order: ${text}`);
  }

  async #checkWakes(records: readonly InputRecord[], texts: readonly string[]): Promise<void> {
    const left = texts.flatMap(splitWakes);
    for (const id of this.#children()) {
      const wakes = records.filter(({ message_id }) => message_id.startsWith(`wake_${id}_`));
      const [first, again, ...more] = wakes;
      // Reported again only if the daemon died with the turn that it began.
      const isRight = first !== undefined && more.length === 0 && wasCut(first) === (again !== undefined);
      if (!isRight) this.#fault(`${wakes.length} wakes of child ${id}: ${JSON.stringify(wakes)}`);
      this.report.wakes += wakes.length;
    }
    // One that is reported again goes before those that wait.
    for (const record of records.toSorted((a, b) => Number(isAgain(b)) - Number(isAgain(a)))) {
      const at = left.findIndex(
        (text) => text.includes(childOf(record)) && text.includes("daemon was restarted") === isAgain(record),
      );
      if (wasCut(record)) this.report.cut += 1;
      if (at !== -1) left.splice(at, 1);
      else if (wasCut(record)) this.#noteUnseen(record);
      else this.#fault(`lost: ${JSON.stringify(record)}`);
    }
    for (const text of left) this.#fault(`a wake given to the parent twice: ${text.slice(0, 300)}`);
  }

  /** Takes the text of a record off the list; it must be the next one, unless its turn was cut. */
  #take(record: InputRecord, left: string[], fits: (text: string) => boolean): void {
    const isCut = wasCut(record);
    if (isCut) this.report.cut += 1;
    if (left[0] !== undefined && fits(left[0])) left.shift();
    else if (isCut) this.#noteUnseen(record);
    else this.#fault(`lost: ${JSON.stringify(record)}; next is ${left[0]?.slice(0, 200)}`);
  }

  #noteUnseen({ kind }: InputRecord): void {
    this.report.unseen += 1;
    if (kind === "wake") this.report.unseenWakes += 1;
  }

  #note(daemon: TestDaemon): void {
    if (/"event":"internal"|"level":"error"/.test(daemon.log())) this.#fault(daemon.log());
  }

  #fault(text: string): void {
    this.report.faults.push(text);
  }
}

export function newManagerReport(): ManagerReport {
  return {
    kills: 0,
    faults: [],
    messages: 0,
    spawns: 0,
    wakes: 0,
    cut: 0,
    unseen: 0,
    unseenWakes: 0,
    retried: 0,
  };
}

/** Wakes that waited together are one message, with a part for each. */
function splitWakes(text: string): string[] {
  const [, merged] = /^\d+ events about your child sessions:\n(.*)/ms.exec(text) ?? [];
  return merged === undefined ? [text] : merged.split(/^(?=- ["(]|\(The daemon was restarted)/m);
}

function isAgain({ message_id }: InputRecord): boolean {
  return message_id.endsWith("_again");
}

/** `wake_<child>_<reason>` */
function childOf({ message_id }: InputRecord): string {
  return /^wake_([\da-f-]{36})_/.exec(message_id)?.[1] ?? message_id;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
