// A person answers while a turn streams: as long as the agent waits, lines are read from the terminal. Only the
// verbs that answer count; anything else that is typed is told to answer nothing. The prompt names the request that
// a bare verb is for, and a bare verb lets the agent do something only if nothing was printed below that request.
import { CodedError, messageOf } from "../../base/coded-error.ts";
import { revealLine } from "../../base/sanitize.ts";
import type { RequestRow, SessionFrame, SessionHandle, WireFrame } from "../../client/index.ts";
import { isNamed, pickRequest, splitRequest } from "../answers.ts";
import { cutTo } from "../bar.ts";
import { UsageError } from "../command.ts";
import { requestLines, verbsFor } from "../request-text.ts";
import { Asked } from "./asked.ts";
import type { LineReader, ShellContext } from "./context.ts";
import { parseLine } from "./parse.ts";

export const TYPE_HERE = "type your choice; other text answers nothing";
const AGAIN = "shown again, because other text stood below it: type your choice now";
const NEXT = "this waits too: type your choice";
/** What is left of a row for typing. */
const ROOM = 24;

type Session = Pick<SessionHandle, "respond" | "requests">;

export class Asking {
  readonly #session: Session;
  readonly #context: ShellContext;
  readonly #asked = new Asked();
  #lines: LineReader | undefined;
  /** The one that the prompt names. */
  #current: RequestRow | undefined;
  /** How much had been written when it was shown. */
  #shownAt = 0;

  constructor(session: Session, context: ShellContext) {
    this.#session = session;
    this.#context = context;
  }

  /** Takes the prompt away while a frame is printed; then begins to read lines, goes on with it, or ends it. */
  async around(frame: SessionFrame, print: () => Promise<void>): Promise<void> {
    this.#lines?.hide();
    await print();
    const shown = this.#asked.see(frame as unknown as WireFrame);
    const [first] = this.#asked.pending;
    const isAnother = first?.request_id !== this.#current?.request_id;
    if (first === undefined) {
      this.close();
      return;
    }
    if (isAnother) {
      this.#current = first;
      this.#shownAt = this.#context.output.writes;
      if (first.is_cut || !shown.includes(first)) await this.#show(first, NEXT);
    }
    this.#prompt(isAnother);
  }

  close(): void {
    this.#current = undefined;
    this.#lines?.close();
    this.#lines = undefined;
  }

  #prompt(isAnother: boolean): void {
    if (this.#current === undefined) return;
    const text = promptFor(this.#current, this.#context.output.talkColumns);
    if (this.#lines !== undefined) this.#lines.show(text, isAnother);
    else this.#lines = this.#context.readLines?.(text, (line) => this.#line(line));
  }

  /** The whole of it, right above the prompt. */
  async #show(row: RequestRow, hint: string): Promise<void> {
    const { output } = this.#context;
    const { request_id } = row;
    // One that cannot be had whole stays cut, and can only be refused.
    const [whole = row] = row.is_cut ? await this.#session.requests({ request_id }).catch(() => []) : [];
    this.#asked.put(whole);
    if (this.#current?.request_id === request_id) this.#current = whole;
    output.ask(requestLines(whole, hint, output.talkColumns).join("\n"));
    this.#shownAt = output.writes;
  }

  async #line(line: string): Promise<void> {
    const { output } = this.#context;
    const current = this.#current;
    if (line.trim() === "" || current === undefined) return;
    const isOnTop = this.#shownAt === output.writes;
    try {
      await this.#answer(line, current, isOnTop);
    } catch (error) {
      // Mistakes of the person and refusals of the daemon: it can be tried again.
      if (!(error instanceof CodedError)) throw error;
      const isMistake = error instanceof UsageError;
      const isUnknown = isMistake && /^unknown command/.test(error.message);
      const message = isMistake ? messageOf(error) : revealLine(messageOf(error));
      output.error(`✗ ${isUnknown ? `that answers nothing: ${verbsFor(current)}` : message}`);
      // These were our own words.
      if (isOnTop) this.#shownAt = output.writes;
    }
  }

  async #answer(line: string, current: RequestRow, isOnTop: boolean): Promise<void> {
    const { verb, given } = parseLine(line) ?? {};
    if (verb?.answer === undefined || given === undefined) throw new UsageError("unknown command");
    const split = splitRequest(given.words, given.rest);
    const row = split.request === undefined ? current : pickRequest(this.#asked.pending, split.request);
    const isSeen = !row.is_cut && (isNamed(split, row) || (row === current && isOnTop));
    if (!isSeen && !verb.isRefusal) {
      await this.#show(row, AGAIN);
      return;
    }
    const answer = verb.answer(split, row, given.flags);
    const { shown_hash } = row;
    const how = { shown_hash, source: "blemeesctl" } as const;
    const { notice } = await this.#session.respond(row.request_id, answer, how);
    if (notice !== undefined) this.#context.output.note(revealLine(notice));
  }
}

/** `answer req_5a01f0d8 Bash: make> `: so that text above it cannot say for what an answer is. */
function promptFor({ request_id, payload }: RequestRow, columns: number): string {
  const named = `answer ${revealLine(request_id).slice(0, 12)} ${revealLine(payload.title)}`;
  return `${cutTo(named, Math.max(ROOM, columns - ROOM))}> `;
}
