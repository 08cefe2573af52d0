// The prompt: each line is a verb, each verb sends a frame, and every inbound frame is printed. terminal.ts and main.ts
// feed it lines.
import { toMessage } from "../../base/coded-error.ts";
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
import { drawBarLines } from "../bar.ts";
import { UsageError } from "../command.ts";
import { formatRequest } from "../request-text.ts";
import { formatPromptHelp, formatVerbHelp } from "./help.ts";
import { Outstanding } from "./outstanding.ts";
import { parseLine } from "./parse.ts";
import { PendingRequests } from "./pending-requests.ts";
import type { Verb, VerbArguments, VerbFrame } from "./verb.ts";
import { createRequestId, findVerb } from "./verbs.ts";
import { Watchdog } from "./watchdog.ts";

/** A silent daemon is pinged after this time, and given up after the same time again. */
const SILENCE_MS = 10_000;
const PROBE_ID = "still-there";

export interface ReplOptions {
  socket: string | undefined;
  /** `blemeesctl/1.0`, for hello. */
  client: string;
  print(line: string): void;
  /** The width of the terminal, if any. */
  columns?: number | undefined;
  /** In a script each frame except an interrupt waits for earlier answers. */
  isScript: boolean;
  /** Half the time that a script waits for a silent daemon. */
  silenceMs?: number;
}

type Local = (repl: Repl, given: VerbArguments) => Promise<void> | void;

export class Repl {
  readonly #options: ReplOptions;
  readonly #outstanding = new Outstanding();
  readonly #sessions = new Set<string>();
  readonly #asked = new PendingRequests();
  #connection: Connection | undefined;
  #watchdog: Watchdog | undefined;
  #isPretty = false;
  #isQuiet = false;
  #isOver = false;
  #hasFailed = false;

  constructor(options: ReplOptions) {
    this.#options = options;
  }

  /** `quit` was typed, or the input has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The daemon stopped answering before everything was done. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Session ids seen so far, for completion. */
  get sessions(): readonly string[] {
    return [...this.#sessions];
  }

  /** Pending requests, for completion. */
  get requests(): readonly string[] {
    return this.#asked.ids;
  }

  /** False if it failed; the reason is printed. */
  async connect(path = this.#options.socket): Promise<boolean> {
    await this.disconnect();
    try {
      const found = findSocket(path);
      this.#connection = await dial(
        { path: found, client: this.#options.client, onSent: (frame) => this.#onSent(found, frame) },
        {
          frame: (frame) => this.#onFrame(frame),
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
      this.#note(toMessage(error));
      return false;
    }
  }

  async disconnect(): Promise<void> {
    await this.#connection?.close();
  }

  /** Runs one line. Usage errors are printed, not thrown. */
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

  /** Resolves when every frame is answered and every turn started here is over. */
  waitUntilSettled(): Promise<void> {
    return this.#outstanding.waitUntilEmpty();
  }

  /** Runs a script, and gives up if the daemon stops answering. */
  async runScript(script: () => Promise<void>): Promise<void> {
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

  /** Answers a request that was shown here. */
  async #answer(verb: Verb, given: VerbArguments): Promise<void> {
    const split = splitRequest(given.words, given.rest);
    const { isScript } = this.#options;
    // A script cannot see the request, so it waits for it.
    if (isScript) {
      await this.#outstanding.waitToSend({ type: "blemeesd.respond" });
      const isThere = (): boolean => this.#asked.ids.some((id) => id.startsWith(split.request ?? ""));
      await this.#outstanding.waitFor(() => isThere() || !this.#outstanding.hasTurn);
    }
    const row = pickRequest(this.#asked.pending, split.request);
    const { session_id, request_id } = row;
    if (!verb.isRefusal) this.#requireSeen(row, isScript || isNamed(split, row), verb.name);
    const answer = verb.answer?.(split, row, given.flags);
    const shown_hash = given.flags["shown"] ?? row.shown_hash;
    const source = "blemeesctl";
    const ids = { type: "blemeesd.respond", id: createRequestId(), session_id, request_id };
    await this.#send({ ...ids, answer, shown_hash, source }, false);
  }

  /** Frames are printed below a request, so on a terminal an approval must name it. */
  #requireSeen(row: RequestRow, isMeant: boolean, verb: string): void {
    const { request_id } = row;
    if (row.is_cut)
      throw new UsageError(`the request was shown truncated; see it first: requests ${request_id}`);
    if (isMeant) return;
    this.#show(row);
    throw new UsageError(`name the request: ${verb} ${request_id}`);
  }

  async #send(frame: VerbFrame, isNew: boolean): Promise<void> {
    if (this.#connection === undefined) {
      this.#options.print("not connected; use connect [PATH]");
      return;
    }
    if (this.#options.isScript) await this.#outstanding.waitToSend(frame);
    if (isNew) this.#note(`session_id: ${String(frame["session_id"])}`);
    if (typeof frame["session_id"] === "string") this.#sessions.add(frame["session_id"]);
    this.#outstanding.noteSent(frame);
    await this.#connection?.write(frame).catch(() => undefined); // a lost connection is reported elsewhere
  }

  #onSent(path: string, frame: object): void {
    if ((frame as VerbFrame).type !== "blemeesd.hello") return;
    if (this.#connection === undefined) this.#note(`connected: ${path}`);
    this.#options.print(`→ ${JSON.stringify(frame)}`);
  }

  #onFrame(frame: WireFrame): void {
    this.#watchdog?.heard();
    if (frame.id === PROBE_ID) return;
    const isBarred = this.#asked.pending.length > 0;
    const asked = this.#asked.see(frame);
    this.#outstanding.noteReceived(frame);
    if (typeof frame.session_id === "string") this.#sessions.add(frame.session_id);
    if (frame.type === "blemeesd.sessions") this.#remember(frame["sessions"]);
    if (this.#isQuiet && frame.type === "agent.delta") return;
    const line = formatFrameLine(frame, this.#isPretty, new Date());
    const { columns } = this.#options;
    this.#options.print(isBarred && columns !== undefined ? drawBarLines(line, columns).join("\n") : line);
    for (const row of asked) this.#show(row);
    if (typeof frame["next"] === "string") this.#note(`more: requests --after ${frame["next"]}`);
  }

  #show(row: RequestRow): void {
    const verb = row.payload.questions === undefined ? "accept" : "answer";
    const hint = `Type your choice with its id, such as: ${verb} ${row.request_id}`;
    this.#options.print(formatRequest(row, hint, this.#options.columns ?? Infinity).join("\n"));
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
    repl.print(verb === undefined ? formatPromptHelp() : formatVerbHelp(verb));
  },
};

function isOn(word: string | undefined, verb: string): boolean {
  if (word === "on" || word === "off") return word === "on";
  throw new UsageError(`usage: ${verb} on|off`);
}

/** `← 12:00:01.123 agent.delta seq=4  {…}` */
export function formatFrameLine(frame: WireFrame, isPretty: boolean, now: Date): string {
  const seq = frame["seq"] === undefined ? "" : ` seq=${String(frame["seq"])}`;
  const json = sanitizeJson(JSON.stringify(frame, undefined, isPretty ? 2 : undefined));
  return `← ${clock(now)} ${sanitize(frame.type)}${seq}  ${json}`;
}

function clock(now: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const ms = String(now.getMilliseconds()).padStart(3, "0");
  return `${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}.${ms}`;
}
