// Requests waiting for their reply. Each one settles, whatever happens to the connection.

import { CodedError } from "../base/coded-error.ts";
import { defined } from "../base/values.ts";
import type { ErrorFrame, RequestFrame, RequestType, WireFrame } from "./frames.ts";

interface Entry {
  frame: RequestFrame;
  resolve(frame: WireFrame): void;
  reject(error: CodedError): void;
  timer: NodeJS.Timeout | undefined;
  isRepeatable: boolean;
}

export interface PendingOptions {
  timeoutMs?: number | undefined;
  /** Fails when the connection is lost, even if repeatable. */
  isOnce?: boolean;
}

/** Safe to repeat, so a reconnect sends these again. */
const REPEATABLE: ReadonlySet<RequestType> = new Set([
  "blemeesd.list_sessions",
  "blemeesd.ping",
  "blemeesd.status",
  "blemeesd.session_info",
  "blemeesd.close",
  "blemeesd.unwatch",
  "blemeesd.list_requests",
  // Only the first answer counts; repeating it returns its outcome.
  "blemeesd.respond",
]);

export class Pending {
  readonly #entries = new Map<string, Entry[]>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  add(frame: RequestFrame, { timeoutMs, isOnce = false }: PendingOptions = {}): Promise<WireFrame> {
    return new Promise((resolve, reject) => {
      const isRepeatable = !isOnce && REPEATABLE.has(frame.type);
      const entry: Entry = { frame, resolve, reject, timer: undefined, isRepeatable };
      if (timeoutMs !== undefined) {
        const late = (): void => {
          this.#remove(entry);
          reject(new CodedError("timeout", `no reply to ${frame.type} within ${timeoutMs} ms`));
        };
        entry.timer = setTimeout(late, timeoutMs);
      }
      const key = toKey(frame);
      this.#entries.set(key, [...(this.#entries.get(key) ?? []), entry]);
      this.#onChange();
    });
  }

  /** True if the frame was a reply. */
  settle(frame: WireFrame): boolean {
    const key = frame.type === "blemeesd.interrupted" ? interruptKey(frame.session_id) : frame.id;
    const entry = typeof key === "string" ? this.#entries.get(key)?.[0] : undefined;
    if (entry === undefined) return false;
    this.#remove(entry);
    if (frame.type === "blemeesd.error") entry.reject(toError(frame as unknown as ErrorFrame));
    else entry.resolve(frame);
    return true;
  }

  /** For a connection that may come back: fails requests that must not be repeated. */
  failUnrepeatable(error: CodedError): void {
    this.#fail(error, (entry) => !entry.isRepeatable);
  }

  failAll(error: CodedError): void {
    this.#fail(error, () => true);
  }

  /** Pending requests, oldest first, to send again. */
  frames(): RequestFrame[] {
    return [...this.#entries.values()].flat().map((entry) => entry.frame);
  }

  #fail(error: CodedError, which: (entry: Entry) => boolean): void {
    for (const entry of [...this.#entries.values()].flat()) {
      if (!which(entry)) continue;
      this.#remove(entry);
      entry.reject(error);
    }
  }

  #remove(entry: Entry): void {
    clearTimeout(entry.timer);
    const key = toKey(entry.frame);
    const rest = (this.#entries.get(key) ?? []).filter((other) => other !== entry);
    if (rest.length > 0) this.#entries.set(key, rest);
    else this.#entries.delete(key);
    this.#onChange();
  }
}

/** `data` also gets the session id. */
export function toError(frame: Pick<ErrorFrame, "code" | "message" | "session_id" | "data">): CodedError {
  const { code, message, session_id, data } = frame;
  if (session_id === undefined && data === undefined) return new CodedError(code, message);
  return new CodedError(code, message, {
    data: { ...defined({ session_id }), ...data },
  });
}

function toKey(frame: RequestFrame): string {
  return frame.type === "blemeesd.interrupt" ? interruptKey(frame.session_id) : (frame.id ?? "");
}

/** Our ids contain no space. */
function interruptKey(session_id: unknown): string {
  return `interrupt ${String(session_id)}`;
}
