// The client as the view uses it: a stream waits until the tab may hold a connection, and is replaced by polling if
// all connections are in use. Nothing is retried here; a lost connection throws.

import { wait } from "../../../src/client/backoff.ts";
import type { WireFrame } from "../../../src/client/frames.ts";
import type { HttpApi } from "../../../src/client/http/api.ts";
import type { ChangeView, StreamItem, ViewPort } from "../../../src/client/view/port.ts";
import type { Slot, Slots } from "./slots.ts";

interface FollowOptions {
  since_seq: number;
  signal: AbortSignal;
  onOpen: () => void;
}

const PAGE = 1_000;
const POLL_MS = 1_000;

export function withSlots(api: HttpApi, slots: Slots, pollMs = POLL_MS): ViewPort {
  return {
    sessionsPage: (page) => api.sessionsPage(page),
    session: (session_id) => api.session(session_id),
    events: (session_id, options) => api.events(session_id, options),
    requests: (filter) => api.requests(filter),
    request: (session_id, request_id) => api.request(session_id, request_id),
    queue: (session_id) => api.queue(session_id),
    follow: (session_id, options) => followSession({ api, slots, pollMs }, session_id, options),
    changes: (signal) => followChanges({ api, slots, pollMs }, signal),
  };
}

interface StreamPort {
  api: HttpApi;
  slots: Slots;
  pollMs: number;
}

async function* followSession(
  { api, slots, pollMs }: StreamPort,
  session_id: string,
  { since_seq, signal, onOpen }: FollowOptions,
): AsyncGenerator<StreamItem, void> {
  let cursor = since_seq;
  for (;;) {
    const slot = await slots.take("session", signal);
    if (slot === undefined) {
      const page = await api.events(session_id, { since_seq: cursor, limit: PAGE, signal });
      onOpen();
      for (const { seq, frame } of page.events) {
        if (seq !== null) cursor = seq;
        yield { kind: "frame", seq, frame: frame as WireFrame };
      }
      if (page.events.length < PAGE) await wait(pollMs, signal);
      continue;
    }
    try {
      for await (const item of api.follow(session_id, { since_seq: cursor, signal: slot.signal, onOpen })) {
        if (item.kind === "frame" && item.seq !== null) cursor = item.seq;
        yield item;
      }
      if (!wasTaken(slot, signal)) return;
    } catch (error) {
      if (!wasTaken(slot, signal)) throw error;
    } finally {
      slot.release();
    }
  }
}

/** Starts with `reset`, again whenever a change may have been missed. */
async function* followChanges(
  { api, slots, pollMs }: StreamPort,
  signal: AbortSignal,
): AsyncGenerator<ChangeView, void> {
  for (;;) {
    const slot = await slots.take("changes", signal);
    if (slot === undefined) {
      // Asked, so that a lost connection is noticed here too.
      await api.health(signal);
      yield { kind: "reset" };
      await wait(pollMs * 3, signal);
      continue;
    }
    try {
      yield* api.changes(slot.signal);
      if (!wasTaken(slot, signal)) return;
    } catch (error) {
      if (!wasTaken(slot, signal)) throw error;
    } finally {
      slot.release();
    }
  }
}

/** Whether the stream ended because another tab needs the connection. */
function wasTaken(slot: Slot, signal: AbortSignal): boolean {
  return slot.signal.aborted && !signal.aborted;
}
