// The bytes of a connection as the SDK's stream of messages, with two promises that the SDK does not make: handlers
// begin in the order in which their messages came, and at the end of the input what was asked is still answered.
import { Readable, Writable } from "node:stream";
import { type AnyMessage, MessageTooLargeError, ndJsonStream, type Stream } from "@agentclientprotocol/sdk";
import { CodedError } from "../../base/coded-error.ts";

/** An image is a few MiB of base64, and a prompt may hold several. */
const MAX_MESSAGE_MIB = 64;
const ANSWERS_LIMIT_MS = 2000;

export interface StreamOrder {
  input: Readable;
  output: Writable;
  /** The client will say no more. Ends what runs; after it the last answers are written. */
  onEnd(): Promise<void>;
}

export interface Streams {
  stream: Stream;
  /** Ends what runs; resolves when the last answers are written, or nobody reads them. */
  finish(): Promise<void>;
  /** Why the connection was closed by us, if it was. */
  fault(): CodedError | undefined;
}

export function createStreams({ input, output, onEnd }: StreamOrder): Streams {
  // A reader that goes away is noticed by the write that fails; the event must only not be unhandled.
  output.on("error", () => undefined);
  const pending = new Pending();
  const finish = async () => {
    await onEnd();
    await pending.answered(ANSWERS_LIMIT_MS);
  };
  const bytes = ndJsonStream(
    Writable.toWeb(output) as WritableStream<Uint8Array>,
    Readable.toWeb(input) as ReadableStream<Uint8Array>,
    { maxMessageBytes: MAX_MESSAGE_MIB * 1024 * 1024 },
  );
  const ordered = new TransformStream<AnyMessage, AnyMessage>({
    async transform(message, controller) {
      pending.received(message);
      controller.enqueue(message);
      // The SDK looks for a handler with an await each, so of two messages at once the later could begin first:
      // a session/cancel before its session/prompt.
      await new Promise((resolve) => setImmediate(resolve));
    },
    flush: finish,
  });
  let fault: CodedError | undefined;
  // The SDK closes the connection then and tells nobody why. Other ends are no faults.
  bytes.readable.pipeTo(ordered.writable).catch((error: unknown) => {
    if (error instanceof MessageTooLargeError) fault = tooLong(error);
  });
  const writable = new WritableStream<AnyMessage>({
    async write(message) {
      const writer = bytes.writable.getWriter();
      try {
        await writer.write(message);
      } catch (error) {
        pending.giveUp();
        throw error;
      } finally {
        writer.releaseLock();
      }
      pending.sent(message);
    },
  });
  return { stream: { readable: ordered.readable, writable }, finish, fault: () => fault };
}

function tooLong(cause: Error): CodedError {
  const message = `a message of the client is longer than ${MAX_MESSAGE_MIB} MiB, so the connection was closed; send less at once`;
  return new CodedError("message_too_long", message, { cause });
}

/** Requests of the client without an answer yet. */
class Pending {
  readonly #ids = new Set<unknown>();
  readonly #waiting = new Set<() => void>();

  received(message: AnyMessage): void {
    if ("method" in message && "id" in message) this.#ids.add(message.id);
  }

  sent(message: AnyMessage): void {
    if ("method" in message || !("id" in message)) return;
    this.#ids.delete(message.id);
    if (this.#ids.size === 0) this.giveUp();
  }

  /** Nobody reads, or there is nothing to wait for. */
  giveUp(): void {
    this.#ids.clear();
    for (const resolve of this.#waiting) resolve();
  }

  async answered(limitMs: number): Promise<void> {
    if (this.#ids.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
      this.#waiting.add(resolve);
    });
    clearTimeout(timer);
  }
}
