// The prompt: one verb a line, one frame a verb, every inbound frame printed. Not a chat: a way to speak the
// protocol by hand. It knows no terminal; terminal.ts and piped.ts feed it lines.
import { messageOf } from "../../base/coded-error.ts";
import { sanitize, sanitizeJson } from "../../base/sanitize.ts";
import {
  type Connection,
  dial,
  findSocket,
  helloFrame,
  type RequestRow,
  type WireFrame,
} from "../../client/index.ts";
import { isNamed, pickRequest, splitRequest } from "../answers.ts";
import { behindBar } from "../bar.ts";
import { UsageError } from "../command.ts";
import { requestLines } from "../request-text.ts";
import { Asked } from "./asked.ts";
import { promptHelp, verbHelp } from "./help.ts";
import { Outstanding } from "./outstanding.ts";
import { parseLine } from "./parse.ts";
import type { Frame, Verb, VerbArguments } from "./verb.ts";
import { findVerb, requestId } from "./verbs.ts";
import { Watchdog } from "./watchdog.ts";

/** A daemon that says nothing is asked after this, and given up after as long again. */
const SILENCE_MS = 10_000;
const PROBE_ID = "still-there";

export interface ReplOptions {
  socket: string | undefined;
  /** `blemeesctl/1.0`, for hello. */
  client: string;
  print(line: string): void;
  /** How wide the screen is; absent when there is none. */
  columns?: number | undefined;
  /** In a script each frame waits for the answers before it, as a person would; an interrupt does not. */
  isScript: boolean;
  /** Half of how long a script waits for a daemon that is silent. */
  silenceMs?: number;
}

type Local = (repl: Repl, given: VerbArguments) => Promise<void> | void;

export class Repl {
  readonly #options: ReplOptions;
  readonly #outstanding = new Outstanding();
  readonly #sessions = new Set<string>();
  readonly #asked = new Asked();
  #connection: Connection | undefined;
  #watchdog: Watchdog | undefined;
  #isPretty = false;
  #isQuiet = false;
  #isOver = false;
  #hasFailed = false;

  constructor(options: ReplOptions) {
    this.#options = options;
  }

  /** `quit` was said, or the input has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The daemon stopped answering before everything was done. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Session ids that went by, for completion. */
  get sessions(): readonly string[] {
    return [...this.#sessions];
  }

  /** Requests that wait for an answer, for completion. */
  get requests(): readonly string[] {
    return this.#asked.ids;
  }

  /** True when it worked; the reason otherwise is printed. */
  async connect(path = this.#options.socket): Promise<boolean> {
    await this.disconnect();
    try {
      const found = findSocket(path);
      this.#connection = await dial(
        { path: found, client: this.#options.client, onSent: (frame) => this.#sent(found, frame) },
        {
          frame: (frame) => this.#received(frame),
          closed: (reason) => {
            this.#connection = undefined;
            this.#asked.clear();
            this.#outstanding.clear();
            if (!this.#isOver) this.#note(`disconnected: ${reason.message}`);
          },
        },
      );
      return true;
    } catch (error) {
      this.#note(messageOf(error));
      return false;
    }
  }

  async disconnect(): Promise<void> {
    await this.#connection?.close();
  }

  /** Does one line. Mistakes are printed, never thrown. */
  async execute(line: string): Promise<void> {
    try {
      const parsed = parseLine(line);
      if (parsed === undefined) return;
      const { verb, given } = parsed;
      if (verb.answer !== undefined) await this.#answer(verb, given);
      else if (verb.frame === undefined) await LOCAL[verb.name]?.(this, given);
      else await this.#send(verb.frame(given), given.words[0] === "new");
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      this.#options.print(sanitize(error.message));
    }
  }

  /** Resolves when nothing is waited for: every request answered, every turn that was started here over. */
  settled(): Promise<void> {
    return this.#outstanding.settled();
  }

  /** Runs a script, and gives it up when the daemon no longer answers. */
  async attended(script: () => Promise<void>): Promise<void> {
    const silenceMs = this.#options.silenceMs ?? SILENCE_MS;
    this.#watchdog = new Watchdog({
      silenceMs,
      isWaiting: () => this.#connection !== undefined && !this.#outstanding.isEmpty,
      probe: () => {
        void this.#connection?.write({ type: "blemeesd.ping", id: PROBE_ID }).catch(() => undefined);
      },
      gone: () =>
        this.#giveUp(`no answer from the daemon for ${(2 * silenceMs) / 1000} s; it may need a restart`),
    });
    try {
      await script();
    } finally {
      this.#watchdog.close();
    }
  }

  #giveUp(why: string): void {
    this.#hasFailed = true;
    this.#isOver = true;
    this.#note(why);
    this.#outstanding.clear();
  }

  setPretty(isPretty: boolean): void {
    this.#isPretty = isPretty;
  }

  setQuiet(isQuiet: boolean): void {
    this.#isQuiet = isQuiet;
  }

  quit(): void {
    this.#isOver = true;
  }

  print(text: string): void {
    this.#options.print(text);
  }

  async sayHello(): Promise<void> {
    await this.#send(helloFrame(this.#options.client), false);
  }

  /** Only what was shown here can be answered here, and as it was shown. */
  async #answer(verb: Verb, given: VerbArguments): Promise<void> {
    const split = splitRequest(given.words, given.rest);
    const { isScript } = this.#options;
    // A script cannot see the request come; it is answered when it is there.
    if (isScript) {
      await this.#outstanding.readyFor({ type: "blemeesd.respond" });
      const isThere = (): boolean => this.#asked.ids.some((id) => id.startsWith(split.request ?? ""));
      await this.#outstanding.until(() => isThere() || !this.#outstanding.hasTurn);
    }
    const row = pickRequest(this.#asked.pending, split.request);
    const { session_id, request_id } = row;
    if (!verb.isRefusal) this.#check(row, isScript || isNamed(split, row), verb.name);
    const answer = verb.answer?.(split, row, given.flags);
    const shown_hash = given.flags["shown"] ?? row.shown_hash;
    const source = "blemeesctl";
    const ids = { type: "blemeesd.respond", id: requestId(), session_id, request_id };
    await this.#send({ ...ids, answer, shown_hash, source }, false);
  }

  /** Frames are printed below a request, so at a terminal a bare word could be meant for what they say. */
  #check(row: RequestRow, isMeant: boolean, verb: string): void {
    const { request_id } = row;
    if (row.is_cut) throw new UsageError(`it was not shown whole; see it first: requests ${request_id}`);
    if (isMeant) return;
    this.#show(row);
    throw new UsageError(`say which request is meant: ${verb} ${request_id}`);
  }

  async #send(frame: Frame, isNew: boolean): Promise<void> {
    if (this.#connection === undefined) {
      this.#options.print("not connected; connect [PATH]");
      return;
    }
    if (this.#options.isScript) await this.#outstanding.readyFor(frame);
    if (isNew) this.#note(`session_id: ${String(frame["session_id"])}`);
    if (typeof frame["session_id"] === "string") this.#sessions.add(frame["session_id"]);
    this.#outstanding.sent(frame);
    await this.#connection?.write(frame).catch(() => undefined); // the drop of the connection is told by itself
  }

  #sent(path: string, frame: object): void {
    if ((frame as Frame).type !== "blemeesd.hello") return;
    if (this.#connection === undefined) this.#note(`connected: ${path}`);
    this.#options.print(`→ ${JSON.stringify(frame)}`);
  }

  #received(frame: WireFrame): void {
    this.#watchdog?.heard();
    if (frame.id === PROBE_ID) return;
    const isBarred = this.#asked.pending.length > 0;
    const asked = this.#asked.see(frame);
    this.#outstanding.received(frame);
    if (typeof frame.session_id === "string") this.#sessions.add(frame.session_id);
    if (frame.type === "blemeesd.sessions") this.#remember(frame["sessions"]);
    if (this.#isQuiet && frame.type === "agent.delta") return;
    const line = frameLine(frame, this.#isPretty, new Date());
    const { columns } = this.#options;
    this.#options.print(isBarred && columns !== undefined ? behindBar(line, columns).join("\n") : line);
    for (const row of asked) this.#show(row);
    if (typeof frame["next"] === "string") this.#note(`there are more: requests --after ${frame["next"]}`);
  }

  #show(row: RequestRow): void {
    const verb = row.payload.questions === undefined ? "accept" : "answer";
    const hint = `type your choice with its id, such as: ${verb} ${row.request_id}`;
    this.#options.print(requestLines(row, hint, this.#options.columns ?? Infinity).join("\n"));
  }

  #remember(rows: unknown): void {
    if (!Array.isArray(rows)) return;
    for (const row of rows as { session_id?: unknown }[]) this.#sessions.add(String(row.session_id));
  }

  #note(text: string): void {
    this.#options.print(`· ${sanitize(text)}`);
  }
}

const LOCAL: Record<string, Local> = {
  connect: async (repl, { words }) => void (await repl.connect(words[0])),
  disconnect: (repl) => repl.disconnect(),
  hello: (repl) => repl.sayHello(),
  pretty: (repl, { words }) => repl.setPretty(isOn(words[0], "pretty")),
  quiet: (repl, { words }) => repl.setQuiet(isOn(words[0], "quiet")),
  quit: (repl) => repl.quit(),
  help: (repl, { words }) => {
    const verb = words[0] === undefined ? undefined : findVerb(words[0]);
    repl.print(verb === undefined ? promptHelp() : verbHelp(verb));
  },
};

function isOn(word: string | undefined, verb: string): boolean {
  if (word === "on" || word === "off") return word === "on";
  throw new UsageError(`usage: ${verb} on|off`);
}

/** `← 12:00:01.123 agent.delta seq=4  {…}` */
export function frameLine(frame: WireFrame, isPretty: boolean, now: Date): string {
  const seq = frame["seq"] === undefined ? "" : ` seq=${String(frame["seq"])}`;
  const json = sanitizeJson(JSON.stringify(frame, undefined, isPretty ? 2 : undefined));
  return `← ${clock(now)} ${sanitize(frame.type)}${seq}  ${json}`;
}

function clock(now: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const ms = String(now.getMilliseconds()).padStart(3, "0");
  return `${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}.${ms}`;
}
