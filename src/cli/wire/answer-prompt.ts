// Reads answers from the terminal while a turn streams. Only verbs that answer are accepted. The prompt names the request
// that a verb without id answers; such a verb approves only if nothing was printed below the request.
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { revealLine } from "../../base/sanitize.ts";
import type { RequestRow, SessionFrame, SessionHandle, WireFrame } from "../../client/index.ts";
import { isNamed, pickRequest, splitRequest } from "../answers.ts";
import { truncate } from "../bar.ts";
import { UsageError } from "../command.ts";
import { formatRequest, listVerbs } from "../request-text.ts";
import type { LineReader, ShellContext } from "./context.ts";
import { parseLine } from "./parse.ts";
import { PendingRequests } from "./pending-requests.ts";

export const TYPE_HERE = "Type your choice; other text is ignored";
const AGAIN = "Shown again, because other text followed it. Type your choice now";
const NEXT = "Also pending. Type your choice";
/** Columns left for typing. */
const ROOM = 24;

type Session = Pick<SessionHandle, "respond" | "requests">;

export class AnswerPrompt {
  readonly #session: Session;
  readonly #context: ShellContext;
  readonly #asked = new PendingRequests();
  #lines: LineReader | undefined;
  /** The request in the prompt. */
  #current: RequestRow | undefined;
  /** `output.writes` when it was shown. */
  #shownAt = 0;

  constructor(session: Session, context: ShellContext) {
    this.#session = session;
    this.#context = context;
  }

  /** Hides the prompt while a frame is printed; then shows it for the current request, if any. */
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

  /** Shows the whole request right above the prompt. */
  async #show(row: RequestRow, hint: string): Promise<void> {
    const { output, words } = this.#context;
    const { request_id } = row;
    // If this fails, the request stays truncated and can only be declined.
    const [whole = row] = row.is_cut ? await this.#session.requests({ request_id }).catch(() => []) : [];
    this.#asked.put(whole);
    if (this.#current?.request_id === request_id) this.#current = whole;
    output.ask(formatRequest(whole, hint, output.talkColumns, { words }).join("\n"));
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
      // Wrong usage, or refused by the daemon: the user can try again.
      if (!(error instanceof CodedError)) throw error;
      const isMistake = error instanceof UsageError;
      const isUnknown = isMistake && /^unknown command/.test(error.message);
      const message = isMistake ? toMessage(error) : revealLine(toMessage(error));
      output.error(`✗ ${isUnknown ? `not an answer; use ${listVerbs(current)}` : message}`);
      // Our own message does not count as other text.
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

/** `answer req_5a01f0d8 Bash: make> `. Text above it cannot change what is answered. */
function promptFor({ request_id, payload }: RequestRow, columns: number): string {
  const named = `answer ${revealLine(request_id).slice(0, 12)} ${revealLine(payload.title)}`;
  return `${truncate(named, Math.max(ROOM, columns - ROOM))}> `;
}
