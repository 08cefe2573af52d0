// One daemon run with eight busy sessions and three that ask: everything is replayed and compared, then turns run
// endlessly. Two requests stay pending until the kill, the third is answered each time.
import { randomUUID } from "node:crypto";
import type { TestDaemon } from "../support/daemon.ts";
import type { Frame, RawClient } from "../support/raw-client.ts";
import { follow, historyFaults, type Tape } from "./tape.ts";

export interface Player {
  session_id: string;
  backend: "claude" | "demo";
  prompt: string;
  /** What to do when its agent asks. */
  whenAsked?: "answer" | "leave";
}

/** Each repeats the same prompt, so that turns begin and end all the time. */
export function cast(): Player[] {
  const words = Array.from({ length: 60 }, (_, n) => `word${n}`).join(" ");
  const claude = ["#slow 40 3", "#flood 300 200", "#say short and quick", "#orphan sleep 300 #slow 30 4"];
  return [
    ...claude.map((prompt) => ({ session_id: randomUUID(), backend: "claude" as const, prompt })),
    ...["hello", "use a tool", "think about it", words].map((prompt) => ({
      session_id: randomUUID(),
      backend: "demo" as const,
      prompt,
    })),
    { session_id: randomUUID(), backend: "claude", prompt: "#ask", whenAsked: "answer" },
    { session_id: randomUUID(), backend: "claude", prompt: "#ask", whenAsked: "leave" },
    { session_id: randomUUID(), backend: "demo", prompt: "please approve", whenAsked: "leave" },
  ];
}

export interface LifeOptions {
  daemon: TestDaemon;
  players: readonly Player[];
  /** Everything that any client saw in any run. */
  seen: Tape;
  /** Sessions whose open was answered, in any run. */
  opened: Set<string>;
  /** Only look at what exists; start no turn. */
  isQuiet?: boolean;
}

export class Life {
  readonly clients: RawClient[] = [];
  /** All histories were replayed and compared. Never settles if the daemon dies first. */
  readonly replayed: Promise<void>;
  readonly faults: string[] = [];
  /** Frames that a client had seen and this daemon does not have. */
  lost = 0;
  /** Requests that were shown in this run. */
  asked = 0;
  readonly #options: LifeOptions;
  readonly #known: Map<string, number>;
  readonly #lastSeq = new Map<string, number>();
  readonly #isReplayed = new Set<string>();
  #tellReplayed: () => void = () => undefined;

  constructor(options: LifeOptions) {
    this.#options = options;
    this.#known = new Map(options.players.map(({ session_id: id }) => [id, options.seen.lastSeq(id)]));
    this.replayed = new Promise((resolve) => {
      this.#tellReplayed = resolve;
    });
  }

  async begin(): Promise<void> {
    const { daemon, players, seen } = this.#options;
    const owner = await daemon.connect();
    const watcher = await daemon.connect();
    this.clients.push(owner, watcher);
    for (const client of this.clients) seen.record(client);
    follow(owner, (frame) => this.#onFrame(owner, watcher, frame));
    // Before anything is asked in this run, nothing of an earlier one is pending.
    owner.send({ type: "blemeesd.list_requests" });
    for (const player of players) owner.send(openFrame(player, this.#options.opened.has(player.session_id)));
  }

  /** What is missing, for the error message. */
  get pending(): string {
    const waiting = this.#options.players.filter(({ session_id }) => !this.#isReplayed.has(session_id));
    const names = waiting.map(({ session_id, prompt }) => {
      return `${session_id} (${prompt}): ${this.#lastSeq.get(session_id) ?? "not open"}, seen ${this.#options.seen.lastSeq(session_id)}`;
    });
    return [...names, ...this.faults, this.#options.daemon.log()].join("\n");
  }

  #onFrame(owner: RawClient, watcher: RawClient, frame: Frame): void {
    const session_id = String(frame["session_id"]);
    const seq = Number(frame["seq"] ?? 0);
    if (frame.type === "blemeesd.opened") {
      const last = Number(frame["last_seq"]);
      this.#lastSeq.set(session_id, last);
      this.#options.opened.add(session_id);
      this.lost += Math.max(0, (this.#known.get(session_id) ?? 0) - last);
      // From the end of the replay; otherwise the agent's own events in between would look like a hole.
      watcher.send({ type: "blemeesd.watch", session_id, last_seen_seq: last });
      if (last === 0) this.#onReplayed(owner, session_id);
    } else if (frame.type === "blemeesd.error" && seq === 0) {
      this.faults.push(JSON.stringify(frame));
    } else if (frame.type === "blemeesd.requests") {
      for (const request of frame["requests"] as object[])
        this.faults.push(`stale: ${JSON.stringify(request)}`);
    } else if (frame["category"] === "request_pending" && this.#isReplayed.has(session_id)) {
      this.#onAsked(owner, session_id, frame);
    } else if (frame.type === "blemeesd.replay_gap") {
      this.faults.push(JSON.stringify(frame));
    } else if (seq > 0 && seq === this.#lastSeq.get(session_id)) {
      this.#onReplayed(owner, session_id);
    } else if (frame.type === "agent.result" && this.#isReplayed.has(session_id)) {
      this.#send(owner, session_id);
    }
  }

  #onAsked(owner: RawClient, session_id: string, frame: Frame): void {
    this.asked += 1;
    const player = this.#options.players.find((candidate) => candidate.session_id === session_id);
    if (player?.whenAsked !== "answer") return;
    const { request } = frame["data"] as { request: { request_id: string } };
    const answer = { decision: "accept" };
    owner.send({ type: "blemeesd.respond", session_id, request_id: request.request_id, answer });
  }

  #onReplayed(owner: RawClient, session_id: string): void {
    const { players, seen, isQuiet = false } = this.#options;
    this.faults.push(...historyFaults(session_id, seen.sessions.get(session_id) ?? new Map()));
    this.#isReplayed.add(session_id);
    if (!isQuiet) this.#send(owner, session_id);
    if (this.#isReplayed.size === players.length) this.#tellReplayed();
  }

  #send(owner: RawClient, session_id: string): void {
    const content = this.#options.players.find((player) => player.session_id === session_id)?.prompt;
    owner.send({ type: "agent.user", session_id, message: { role: "user", content } });
  }
}

function openFrame({ session_id, backend, whenAsked }: Player, resume: boolean): object {
  const claude = { include_partial_messages: true, approvals: whenAsked !== undefined };
  const options = backend === "claude" ? claude : { pace_ms: 2 };
  const base = { type: "blemeesd.open", id: session_id, session_id, backend, resume, last_seen_seq: 0 };
  return { ...base, options: { [backend]: options } };
}
