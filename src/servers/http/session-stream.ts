// The events of one session as server-sent events: `id` is the seq, `event` the frame's type, `data` the frame.
import { randomUUID } from "node:crypto";
import type { Batch, Subscriber } from "../../sessions/index.ts";
import type { Call, Services } from "./route.ts";
import { type BatchTexts, type EventStream, eventText } from "./streams.ts";

/** How a frame begins, so that its type is found without parsing the rest (sessions/stream/stream.ts writes it so). */
const FRAME_TYPE = /^\{"session_id":"[^"\\]*"(?:,"(?:seq|persisted)":[^,"]+)*,"type":"([\w.]+)"/;

/** Frames behind `since_seq`, or from now on. Resolves when the stream has begun. */
export async function streamSession(
  call: Pick<Call<unknown, unknown>, "outgoing" | "signal">,
  { manager, streams }: Pick<Services, "manager" | "streams">,
  session_id: string,
  since_seq: number | undefined,
): Promise<void> {
  const stream = streams.open(call.outgoing);
  const client = {
    id: randomUUID(),
    get isGone() {
      return stream.isOver;
    },
  };
  const watching = await manager
    .watch(client, subscriber(stream, streams.texts, session_id), session_id, since_seq)
    .catch((error: unknown) => {
      stream.end();
      throw error;
    });
  stream.begin({ drained: () => watching.attachment.drained(), ended: () => watching.end() });
  if (stream.isOver) return;
  if (watching.hasLost) {
    stream.send("gap", {
      session_id,
      since_seq: since_seq ?? watching.last_seq,
      gap_reason: "persistence_error",
    });
  }
  watching.attachment.start();
}

function subscriber(stream: EventStream, texts: BatchTexts, session_id: string): Subscriber {
  return {
    write: (batch) => stream.write(textOnce(batch, texts)),
    isFull: () => stream.isFull,
    gap: (since_seq, first_available_seq) =>
      stream.send("gap", { session_id, since_seq, first_available_seq }),
    lagging: (since_seq, last_seq) => stream.send("catching_up", { session_id, since_seq, last_seq }),
    taken: () => undefined, // an owner's news
    closed: (reason) => {
      stream.send("closed", { session_id, reason });
      stream.end();
    },
  };
}

/** A live batch is the same object for all who follow the session: it becomes text once. */
function textOnce(batch: Batch, texts: BatchTexts): Buffer {
  const known = texts.get(batch.bytes);
  if (known !== undefined) return known;
  const text = Buffer.from(batchText(batch));
  texts.set(batch.bytes, text);
  return text;
}

/** Frames that could not be stored have no id: a reader that comes back asks from the last stored one. */
export function batchText({ bytes, first_seq, last_seq }: Batch): string {
  let text = "";
  let seq = first_seq;
  for (const line of bytes.toString("utf8").split("\n")) {
    if (line === "") continue;
    text += eventText(typeOf(line), line, last_seq === 0 ? undefined : seq);
    seq += 1;
  }
  return text;
}

function typeOf(line: string): string {
  const found = FRAME_TYPE.exec(line)?.[1];
  if (found !== undefined) return found;
  const { type } = JSON.parse(line) as { type?: unknown };
  return String(type).replace(/[^\w.-]/g, "_");
}
