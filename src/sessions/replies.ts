// Pending replies to callers, keyed by job id.

import { CodedError } from "../base/coded-error.ts";
import { defined } from "../base/values.ts";
import type { Failure } from "./core/state.ts";
import type { Feed } from "./stream/feed.ts";
import type { Client, Subscriber } from "./types.ts";

/** Caller data the core does not need. */
interface Extras {
  client?: Client;
  subscriber?: Subscriber;
  acknowledged?(was_idle: boolean): void;
}

interface Pending extends Extras {
  resolve(value: unknown): void;
  reject(error: Error): void;
  marked_seq?: number;
}

export class PendingReplies {
  readonly #pending = new Map<string, Pending>();
  #count = 0;

  newId(): string {
    this.#count += 1;
    return `j${this.#count}`;
  }

  expect<T>(job_id: string, extras: Extras = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(job_id, { ...extras, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  reply(job_id: string, value: unknown): void {
    this.#take(job_id)?.resolve(value);
  }

  refuse(job_id: string, { code, message, data }: Failure): void {
    this.#take(job_id)?.reject(new CodedError(code, message, defined({ data })));
  }

  acknowledge(job_id: string, was_idle: boolean): void {
    this.#pending.get(job_id)?.acknowledged?.(was_idle);
  }

  /** Remembers the stream position at the start of the client's agent. */
  mark(job_id: string, marked_seq: number): void {
    const pending = this.#pending.get(job_id);
    if (pending !== undefined) pending.marked_seq = marked_seq;
  }

  own(
    job_id: string,
    make: (how: Required<Pick<Pending, "client" | "subscriber" | "marked_seq">>) => Feed,
  ): void {
    const pending = this.#take(job_id);
    if (pending?.client === undefined || pending.subscriber === undefined) return;
    const { client, subscriber, marked_seq = 0 } = pending;
    pending.resolve(make({ client, subscriber, marked_seq }));
  }

  #take(job_id: string): Pending | undefined {
    const pending = this.#pending.get(job_id);
    this.#pending.delete(job_id);
    return pending;
  }
}
