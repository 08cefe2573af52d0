// The events of one session as server-sent events: `id` is the seq, `event` the frame's type, `data` the frame.
import { randomUUID } from "node:crypto";
import type { Batch, Subscriber } from "../../sessions/index.ts";
import type { Call, Services } from "./route.ts";
import { type BatchTexts, type EventStream, formatEvent } from "./streams.ts";

/** The start of a frame, to read its type without parsing the rest (written by sessions/stream/stream.ts). */
const FRAME_TYPE = /^\{"session_id":"[^"\\]*"(?:,"(?:seq|persisted)":[^,"]+)*,"type":"([\w.]+)"/;

/** Sends frames after `since_seq`, or from now on. Resolves when the stream has started. */
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
  stream.begin({ drained: () => watching.attachment.onDrain(), ended: () => watching.end() });
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
    taken: () => undefined, // only owners are notified
    closed: (reason) => {
      stream.send("closed", { session_id, reason });
      stream.end();
    },
  };
}

/** A live batch is shared by all followers of the session and formatted once. */
function textOnce(batch: Batch, texts: BatchTexts): Buffer {
  const known = texts.get(batch.bytes);
  if (known !== undefined) return known;
  const text = Buffer.from(formatBatch(batch));
  texts.set(batch.bytes, text);
  return text;
}

/** Frames that could not be stored have no id: a reconnecting reader continues after the last stored one. */
export function formatBatch({ bytes, first_seq, last_seq }: Batch): string {
  let text = "";
  let seq = first_seq;
  for (const line of bytes.toString("utf8").split("\n")) {
    if (line === "") continue;
    text += formatEvent(readType(line), line, last_seq === 0 ? undefined : seq);
    seq += 1;
  }
  return text;
}

function readType(line: string): string {
  const found = FRAME_TYPE.exec(line)?.[1];
  if (found !== undefined) return found;
  const { type } = JSON.parse(line) as { type?: unknown };
  return String(type).replace(/[^\w.-]/g, "_");
}
