// Claude Code by its program, where that is configured (`runtime: "cli"`). Says the same as its Agent SDK.
import { cliArgs } from "./cli-args.ts";
import { CapabilityProbe } from "./cli-capabilities.ts";
import { CliRun } from "./cli-run.ts";
import { noticeMessage } from "./notice.ts";
import { ClaudeFailure, type ClaudeMessage, type ClaudeOrder, type ClaudeTransport } from "./transport.ts";

export class CliTransport implements ClaudeTransport {
  readonly #probe = new CapabilityProbe();
  /** What this program cannot do is told once. */
  readonly #told = new Set<string>();
  readonly #maxLineBytes: number | undefined;

  constructor({ maxLineBytes }: { maxLineBytes?: number } = {}) {
    this.#maxLineBytes = maxLineBytes;
  }

  async *run(order: ClaudeOrder): AsyncGenerator<ClaudeMessage> {
    const { executable: command, env, signal } = order;
    if (command === undefined) throw new ClaudeFailure("not_installed", "no `claude` program was found");
    if (signal.aborted) return;
    const capabilities = await this.#probe.find(command, env);
    if (signal.aborted) return;
    const { args, missing } = cliArgs(order, capabilities);
    for (const text of missing.filter((sentence) => !this.#told.has(sentence))) {
      this.#told.add(text);
      yield noticeMessage({ kind: "warning", text });
    }
    const limit = this.#maxLineBytes === undefined ? {} : { maxLineBytes: this.#maxLineBytes };
    yield* new CliRun(order, { command, args, ...limit }).messages();
  }
}
