// The SDK's message stream over a connection, with two more guarantees: handlers start in the order of their messages, and
// at the end of the input pending requests are still answered.
import { Readable, Writable } from "node:stream";
import { type AnyMessage, MessageTooLargeError, ndJsonStream, type Stream } from "@agentclientprotocol/sdk";
import { CodedError } from "./coded-error.ts";

/** A prompt may contain several images of a few MiB in base64. */
const MAX_MESSAGE_MIB = 64;
const ANSWERS_LIMIT_MS = 2000;

export interface StreamOptions {
  input: Readable;
  output: Writable;
  /** The input ended. Stops all work; the last responses are written after it. */
  onEnd(): Promise<void>;
}

export interface Streams {
  stream: Stream;
  /** Stops all work; resolves when the last responses are written, or the output is closed. */
  finish(): Promise<void>;
  /** Why we closed the connection, if we did. */
  fault(): CodedError | undefined;
}

export function createStreams({ input, output, onEnd }: StreamOptions): Streams {
  // The failing write reports a closed output; this only prevents an unhandled event.
  output.on("error", () => undefined);
  const pending = new Pending();
  const finish = async () => {
    await onEnd();
    await pending.waitUntilAnswered(ANSWERS_LIMIT_MS);
  };
  const bytes = ndJsonStream(
    Writable.toWeb(output) as WritableStream<Uint8Array>,
    Readable.toWeb(input) as ReadableStream<Uint8Array>,
    { maxMessageBytes: MAX_MESSAGE_MIB * 1024 * 1024 },
  );
  const ordered = new TransformStream<AnyMessage, AnyMessage>({
    async transform(message, controller) {
      pending.addRequest(message);
      controller.enqueue(message);
      // The SDK awaits while finding a handler, so a later message could overtake: session/cancel before session/prompt.
      await new Promise((resolve) => setImmediate(resolve));
    },
    flush: finish,
  });
  let fault: CodedError | undefined;
  // The SDK closes the connection without a reason. Other ends are not faults.
  bytes.readable.pipeTo(ordered.writable).catch((error: unknown) => {
    if (error instanceof MessageTooLargeError) fault = createTooLongError(error);
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
      pending.removeAnswered(message);
    },
  });
  return { stream: { readable: ordered.readable, writable }, finish, fault: () => fault };
}

function createTooLongError(cause: Error): CodedError {
  const message = `the connection was closed because a message exceeds ${MAX_MESSAGE_MIB} MiB; send smaller messages`;
  return new CodedError("message_too_long", message, { cause });
}

/** Unanswered requests of the client. */
class Pending {
  readonly #ids = new Set<unknown>();
  readonly #waiting = new Set<() => void>();

  addRequest(message: AnyMessage): void {
    if ("method" in message && "id" in message) this.#ids.add(message.id);
  }

  removeAnswered(message: AnyMessage): void {
    if ("method" in message || !("id" in message)) return;
    this.#ids.delete(message.id);
    if (this.#ids.size === 0) this.giveUp();
  }

  /** The output is closed, or nothing is pending. */
  giveUp(): void {
    this.#ids.clear();
    for (const resolve of this.#waiting) resolve();
  }

  async waitUntilAnswered(limitMs: number): Promise<void> {
    if (this.#ids.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
      this.#waiting.add(resolve);
    });
    clearTimeout(timer);
  }
}
