// Commands of the user (`!command`) on the screen: one at a time, with their output in the feed.
import { toMessage } from "../../../base/coded-error.ts";
import type { DemianSession } from "../../../runtime/session-types.ts";
import { formatShellOutput } from "../shell-text.ts";

export class UserShell {
  readonly #say: (level: "info" | "warn" | "error", text: string) => void;
  #running: { abort: AbortController; done: Promise<void> } | undefined;

  constructor(say: (level: "info" | "warn" | "error", text: string) => void) {
    this.#say = say;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Returns at once; the output is shown when the command has ended. */
  run(session: Pick<DemianSession, "runCommand">, command: string): void {
    const abort = new AbortController();
    this.#say("info", `$ ${command}`);
    const done = session
      .runCommand({ command, signal: abort.signal })
      .then(
        ({ output, end, isGood }) => this.#say(isGood ? "info" : "warn", formatShellOutput(output, end)),
        (error: unknown) => this.#say("error", toMessage(error)),
      )
      .finally(() => {
        this.#running = undefined;
      });
    this.#running = { abort, done };
  }

  /** False: nothing runs. */
  stop(): boolean {
    this.#running?.abort.abort();
    return this.isRunning;
  }

  /** Resolves when no command runs. */
  async idle(): Promise<void> {
    await this.#running?.done;
  }
}
