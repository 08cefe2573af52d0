// What waits for the person at the screen: each request stands there until it is answered or its turn ends. Only an
// answer to exactly what was shown counts.
import { CodedError } from "../../../base/coded-error.ts";
import type { Answer, RequestRow } from "../../../protocol/requests.ts";
import { REQUEST_TYPES } from "../../../protocol/requests.ts";
import type { PermissionAnswer, PermissionPrompt } from "../../../runtime/permissions/types.ts";
import type { UserQuestion } from "../../../runtime/tools/types.ts";
import {
  type Asked,
  askedPermission,
  askedQuestion,
  permissionAnswer,
  questionAnswer,
  rowOf,
} from "./request-rows.ts";

export interface AskingOptions {
  session_id: string;
  /** The name of a call on the screen. */
  nameOf(callId: string): string;
  /** Something waits, or waits no more: the row as it stands now. */
  onChange(row: RequestRow): void;
}

interface Open {
  row: RequestRow;
  /** Throws when that is no answer to it. */
  answer(answer: Answer): void;
}

export class Asking {
  readonly #options: AskingOptions;
  readonly #open = new Map<string, Open>();
  #count = 0;

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  get waiting(): { permissions: number; questions: number } {
    const types = [...this.#open.values()].map(({ row }) => REQUEST_TYPES[row.request_type]);
    const inputs = types.filter((type) => type === "input").length;
    return { permissions: this.#open.size - inputs, questions: inputs };
  }

  permission(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer> {
    const withdrawn: PermissionAnswer = { decision: "deny", stop: true };
    const item_id = this.#options.nameOf(prompt.callId);
    return this.#ask(askedPermission(prompt), { signal, withdrawn, item_id }, permissionAnswer);
  }

  question(question: UserQuestion, signal: AbortSignal): Promise<string | undefined> {
    return this.#ask(askedQuestion(question), { signal, withdrawn: undefined }, (_row, answer) =>
      questionAnswer(answer),
    );
  }

  respond({ request_id, shown_hash }: RequestRow, answer: Answer): void {
    const open = this.#open.get(request_id);
    if (open === undefined) {
      throw new CodedError("request_gone", `request ${request_id} does not wait for an answer any more`);
    }
    if (open.row.shown_hash !== shown_hash) {
      throw new CodedError(
        "request_changed",
        `request ${request_id} is another one by now; look at it again`,
      );
    }
    open.answer(answer);
  }

  #ask<T>(
    asked: Asked,
    { signal, withdrawn, item_id }: { signal: AbortSignal; withdrawn: T; item_id?: string },
    read: (row: RequestRow, answer: Answer) => T,
  ): Promise<T> {
    this.#count += 1;
    const request_id = `req_${this.#count}`;
    const { session_id } = this.#options;
    const ids = { request_id, session_id, requested_at_ms: Date.now() };
    const row = rowOf(asked, item_id === undefined ? ids : { ...ids, item_id });
    if (signal.aborted) return Promise.resolve(withdrawn);
    return new Promise((resolve) => {
      const settle = (value: T, news: Partial<RequestRow>): void => {
        signal.removeEventListener("abort", onAbort);
        this.#open.delete(request_id);
        this.#options.onChange({ ...row, ...news });
        resolve(value);
      };
      const onAbort = (): void => settle(withdrawn, { status: "withdrawn" });
      const answer = (given: Answer): void => {
        const value = read(row, given);
        const nowMs = Date.now();
        settle(value, {
          status: "resolved",
          answer: given,
          resolved_at_ms: nowMs,
          resolution_source: "tui",
          dispatched_at_ms: nowMs,
        });
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#open.set(request_id, { row, answer });
      this.#options.onChange(row);
    });
  }
}
