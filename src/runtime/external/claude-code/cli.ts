// Runs Claude Code as a program (`runtime: "cli"`), with the same messages as by its Agent SDK.
import { defined } from "../../../base/values.ts";
import { toCliArgs } from "./cli-args.ts";
import { CapabilityProbe } from "./cli-capabilities.ts";
import { CliRun } from "./cli-run.ts";
import { toNoticeMessage } from "./notice.ts";
import { ClaudeFailure, type ClaudeMessage, type ClaudeOrder, type ClaudeTransport } from "./transport.ts";

export class CliTransport implements ClaudeTransport {
  readonly #probe = new CapabilityProbe();
  /** Each warning is shown once. */
  readonly #warned = new Set<string>();
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
    const { args, missing } = toCliArgs(order, capabilities);
    for (const text of missing.filter((warning) => !this.#warned.has(warning))) {
      this.#warned.add(text);
      yield toNoticeMessage({ kind: "warning", text });
    }
    const limit = defined({ maxLineBytes: this.#maxLineBytes });
    yield* new CliRun(order, { command, args, ...limit }).messages();
  }
}
