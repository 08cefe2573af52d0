// Streams of one session's events and of all sessions' changes that survive a daemon restart. A session's stream
// resumes after the last event seen, so each event comes once and in order.
import { CodedError } from "../../base/coded-error.ts";
import type { WireFrame } from "../frames.ts";
import { isCut, type RetryOptions, retry, retryUntilBack } from "./retry.ts";
import { type EventStream, openEvents } from "./sse.ts";
import type { Transport } from "./transport.ts";
import type { ChangeView, FollowOptions, StreamItem } from "./types.ts";

export interface FollowPort {
  transport: Transport;
  headers: Readonly<Record<string, string>>;
  retry: RetryOptions;
}

/** The `closed` reason of a deleted session. */
const FORGOTTEN = "deleted";

export async function* followSession(
  port: FollowPort,
  session_id: string,
  { since_seq, signal, onOpen }: FollowOptions,
): AsyncGenerator<StreamItem, void> {
  let cursor = since_seq;
  const path = `/sessions/${encodeURIComponent(session_id)}/events`;
  const open = async (): Promise<EventStream> => {
    const stream = await openEvents(port.transport, {
      path: cursor === undefined ? path : `${path}?since_seq=${cursor}`,
      headers: port.headers,
      signal,
    });
    onOpen?.();
    return stream;
  };
  for await (const { event = "message", data } of reopen(open, port, signal)) {
    const value = parse(data);
    if (event === "closed") {
      // Only unloaded from memory: the stream is reopened.
      if (value["reason"] !== FORGOTTEN) continue;
      yield { kind: "closed", data: value };
      return;
    }
    if (event === "gap" || event === "catching_up") {
      yield { kind: event, data: value };
      continue;
    }
    const seq = typeof value["seq"] === "number" ? value["seq"] : null;
    if (seq !== null) {
      if (cursor !== undefined && seq <= cursor) continue;
      cursor = seq;
    }
    yield { kind: "frame", seq, frame: value as WireFrame };
  }
}

/** Starts with `reset`, again after each restart; sessions read after a `reset` miss no change. */
export async function* followChanges(
  port: FollowPort,
  signal: AbortSignal | undefined,
): AsyncGenerator<ChangeView, void> {
  const { transport, headers } = port;
  const open = () => openEvents(transport, { path: "/events", headers, signal });
  for await (const { data } of reopen(open, port, signal)) yield parse(data) as ChangeView;
}

/** One stream after another, until the caller stops or the daemon stays away. */
async function* reopen(
  open: () => Promise<EventStream>,
  port: FollowPort,
  signal: AbortSignal | undefined,
): EventStream["messages"] {
  const options = { ...port.retry, signal };
  let stream = await retry(open, options);
  for (;;) {
    let cause = new CodedError("connection_lost", "the daemon ended the stream");
    try {
      yield* stream.messages;
    } catch (error) {
      if (signal?.aborted) return;
      if (!isCut(error)) throw error;
      cause = error;
    } finally {
      stream.close();
    }
    if (signal?.aborted) return;
    stream = await retryUntilBack(open, cause, options);
  }
}

function parse(data: string): Record<string, unknown> {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new CodedError("bad_reply", "the daemon sent an event that is not JSON", { cause });
  }
}
