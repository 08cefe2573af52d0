// The events of one session, and the changes of all, as streams that survive a restart of the daemon: the session's
// goes on behind the last event that was seen, so that each comes once and in order.
import { CodedError } from "../../base/coded-error.ts";
import type { WireFrame } from "../frames.ts";
import { isCut, type RetryOptions, retried, untilBack } from "./retry.ts";
import { type EventStream, openEvents } from "./sse.ts";
import type { ChangeView, FollowOptions, StreamItem } from "./types.ts";

export interface FollowPort {
  socket: string;
  headers: Readonly<Record<string, string>>;
  retry: RetryOptions;
}

/** The reason of a session that was deleted. */
const FORGOTTEN = "deleted";

export async function* followSession(
  port: FollowPort,
  session_id: string,
  { since_seq, signal, onOpen }: FollowOptions,
): AsyncGenerator<StreamItem, void> {
  let cursor = since_seq;
  const path = `/sessions/${encodeURIComponent(session_id)}/events`;
  const open = async (): Promise<EventStream> => {
    const stream = await openEvents(port.socket, {
      path: cursor === undefined ? path : `${path}?since_seq=${cursor}`,
      headers: port.headers,
      silenceMs: 0,
      signal,
    });
    onOpen?.();
    return stream;
  };
  for await (const { event = "message", data } of lasting(open, port, signal)) {
    const value = parse(data);
    if (event === "closed") {
      // A session that the daemon merely put away comes back; the stream is opened again for it.
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

/** Begins with `reset`, and anew behind a restart: read the sessions then, and nothing falls in between. */
export async function* followChanges(
  port: FollowPort,
  signal: AbortSignal | undefined,
): AsyncGenerator<ChangeView, void> {
  const { socket, headers } = port;
  const open = () => openEvents(socket, { path: "/events", headers, silenceMs: 0, signal });
  for await (const { data } of lasting(open, port, signal)) yield parse(data) as ChangeView;
}

/** One stream after the other, until the caller has enough or the daemon stays away. */
async function* lasting(
  open: () => Promise<EventStream>,
  { retry }: FollowPort,
  signal: AbortSignal | undefined,
): EventStream["messages"] {
  let stream = await retried(open, { ...retry, signal });
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
    stream = await untilBack(open, cause, { ...retry, signal });
  }
}

function parse(data: string): Record<string, unknown> {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new CodedError("bad_reply", "the daemon sent an event that is not JSON", { cause });
  }
}
