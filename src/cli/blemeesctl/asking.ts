// A person answers while a turn streams: as long as the agent waits, lines are read from the terminal. Only the
// verbs that answer count; anything else that is typed is told to answer nothing.
import { CodedError, messageOf } from "../../base/coded-error.ts";
import type { SessionFrame, SessionHandle, WireFrame } from "../../client/index.ts";
import { UsageError } from "../command.ts";
import { pickRequest, splitRequest } from "./answers.ts";
import { Asked } from "./asked.ts";
import type { LineReader, ShellContext } from "./context.ts";
import { parseLine } from "./parse.ts";
import { verbsFor } from "./request-text.ts";

export const TYPE_HERE = "type your choice; other text answers nothing";

export class Asking {
  readonly #session: Pick<SessionHandle, "respond">;
  readonly #context: ShellContext;
  readonly #asked = new Asked();
  #lines: LineReader | undefined;

  constructor(session: Pick<SessionHandle, "respond">, context: ShellContext) {
    this.#session = session;
    this.#context = context;
  }

  /** Takes the prompt away while a frame is printed; then begins to read lines, goes on with it, or ends it. */
  async around(frame: SessionFrame, print: () => Promise<void>): Promise<void> {
    this.#lines?.hide();
    await print();
    this.#asked.see(frame as unknown as WireFrame);
    if (this.#asked.pending.length === 0) this.close();
    else if (this.#lines !== undefined) this.#lines.show();
    else this.#lines = this.#context.readLines?.("answer> ", (line) => this.#line(line));
  }

  close(): void {
    this.#lines?.close();
    this.#lines = undefined;
  }

  async #line(line: string): Promise<void> {
    if (line.trim() === "") return;
    const { output } = this.#context;
    try {
      const { verb, given } = parseLine(line) ?? {};
      if (verb?.answer === undefined || given === undefined) throw notAnAnswer();
      const split = splitRequest(given.words, given.rest);
      const row = pickRequest(this.#asked.pending, split.request);
      const answer = verb.answer(split, row, given.flags);
      const { shown_hash } = row;
      await this.#session.respond(row.request_id, answer, { shown_hash, source: "tui" });
    } catch (error) {
      // Mistakes of the person and refusals of the daemon: it can be tried again.
      const isUnknown = error instanceof UsageError && /^unknown command/.test(error.message);
      const [row] = this.#asked.pending;
      const choices = row === undefined ? "" : `: ${verbsFor(row)}`;
      if (isUnknown || error instanceof CodedError) {
        output.error(`✗ ${isUnknown ? `that answers nothing${choices}` : messageOf(error)}`);
      } else throw error;
    }
  }
}

function notAnAnswer(): UsageError {
  return new UsageError("unknown command");
}
