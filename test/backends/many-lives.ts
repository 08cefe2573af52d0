// Several sessions of one process at work, while their daemon dies again and again at random moments. Clients see what is
// stored, and nothing else: whatever happens, each session must have had every report exactly once.
import { setTimeout as delay } from "node:timers/promises";
import type { Backend } from "../../src/backends/types.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import { size } from "../support/sizes.ts";
import { type KeptSession, type Lives, newLives } from "./adoption.ts";

interface Script {
  text: string;
  /** The agent's words. */
  said: string;
}

export interface Scripts {
  /** A turn that streams `count` pieces. */
  slow(count: number, ms: number): Script;
  /** A turn that asks once; what it says after `accept`. */
  ask: Script;
  /** Waits for an interrupt. */
  wait: string;
}

export function seeds(gate: number): number[] {
  return Array.from({ length: size("CHAOS_SEEDS", gate) }, (_, n) => n + 1);
}

export interface ManyLives {
  random(limit: number): number;
  scripts: Scripts;
  options: Record<string, unknown>;
  /** A new daemon. */
  daemon(runs: Lives["runs"]): Backend;
  sessions: number;
  turns: number;
  deaths: number;
}

/** A session as a client knows it. */
class Client {
  readonly session: KeptSession;
  /** What each turn must say. */
  readonly turns: string[] = [];
  #stored = 0;

  constructor(session: KeptSession) {
    this.session = session;
  }

  /** Everything so far is stored, with the place that belongs to it. */
  store(): void {
    this.session.store();
    this.#stored = this.session.sink.heard.length;
  }

  /** What was not stored is lost with the daemon. */
  forget(): void {
    this.session.sink.heard.length = this.#stored;
  }

  get events(): AgentEvent[] {
    return this.session.sink.heard
      .slice(0, this.#stored)
      .flatMap((heard) => (heard.kind === "event" ? [heard.event] : []));
  }

  get asks(): string[] {
    return this.session.sink.heard
      .slice(0, this.#stored)
      .flatMap((heard) => (heard.kind === "ask" ? [heard.ask.native_id] : []));
  }

  /** The text of each turn that has ended. */
  get texts(): string[] {
    const texts = [""];
    for (const event of this.events) {
      if (event.type === "agent.delta") texts.push(`${texts.pop()}${event.text ?? ""}`);
      else if (event.type === "agent.result") texts.push("");
    }
    return texts.slice(0, -1);
  }

  get results(): number {
    return this.events.filter(({ type }) => type === "agent.result").length;
  }
}

export async function liveManyTimes(parts: ManyLives): Promise<Client[]> {
  const { random, deaths } = parts;
  const lives = newLives();
  const backend = parts.daemon(lives.runs);
  const clients: Client[] = [];
  for (let n = 0; n < parts.sessions; n += 1)
    clients.push(new Client(await lives.open(backend, parts.options)));
  for (const client of clients) client.store();
  let isUp = true;
  const ready = async () => {
    do await delay(1 + random(4));
    while (!isUp);
  };
  const working = Promise.all(clients.map((client) => work(client, parts, ready)));
  for (let death = 0; death < deaths; death += 1) {
    await delay(random(60));
    // The store may be behind.
    for (const client of clients) if (random(3) > 0) client.store();
    isUp = false;
    lives.die();
    for (const client of clients) client.forget();
    await delay(random(20));
    const sessions = clients.map(({ session }) => session);
    await lives.adopt(parts.daemon(lives.runs), sessions);
    isUp = true;
  }
  await working;
  return clients;
}

async function work(client: Client, parts: ManyLives, ready: () => Promise<void>): Promise<void> {
  const { random, scripts } = parts;
  const { session } = client;
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) {
      await ready();
      if (random(2) === 0) client.store();
    }
  };
  const begin = ({ text, said }: Script) => {
    client.turns.push(said);
    void session.send(text);
  };
  const isOver = () => client.results >= client.turns.length;
  while (client.turns.length < parts.turns) {
    await ready();
    const kind = random(4);
    if (kind === 0) {
      const known = client.asks.length;
      begin(scripts.ask);
      await until(() => client.asks.length > known);
      const [native_id = ""] = client.asks.slice(known);
      void session.answer(native_id, { decision: "accept" });
    } else if (kind === 1) {
      begin({ text: scripts.wait, said: "" });
      await until(() => random(8) === 0);
      void session.interrupt();
    } else begin(scripts.slow(1 + random(40), random(4)));
    await until(isOver);
    if (random(2) === 0) session.checkpoint();
  }
}
