// The two streams of the API as a view wants them: they rest while the tab has no claim to a connection, and are read
// in pieces where all connections are taken. They try nothing again; a cut is thrown.

import type { WireFrame } from "../../../src/client/frames.ts";
import type { ChangeView, StreamItem } from "../../../src/client/view/port.ts";
import type { EventsPage } from "../../../src/protocol/views.ts";
import { parseData, readEvents } from "./events.ts";
import type { Slot, Slots } from "./slots.ts";
import { call, type Transport } from "./transport.ts";

export interface StreamPort {
  transport: Transport;
  slots: Slots;
  /** How often to ask where there is no connection for a stream. */
  pollMs: number;
}

interface FollowOptions {
  since_seq: number;
  signal: AbortSignal;
  onOpen: () => void;
}

const PAGE = 1_000;

export async function* followSession(
  port: StreamPort,
  session_id: string,
  { since_seq, signal, onOpen }: FollowOptions,
): AsyncGenerator<StreamItem, void> {
  let cursor = since_seq;
  const path = `/sessions/${encodeURIComponent(session_id)}/events`;
  for (;;) {
    const slot = await port.slots.take("session", signal);
    if (slot === undefined) {
      const query = { since_seq: cursor, limit: PAGE };
      const page = await call<EventsPage>(port.transport, { path, query, signal });
      onOpen();
      for (const { seq, frame } of page.events) {
        if (seq !== null) cursor = seq;
        yield { kind: "frame", seq, frame: frame as WireFrame };
      }
      if (page.events.length < PAGE) await pause(port.pollMs, signal);
      continue;
    }
    const order = { path, query: { since_seq: cursor }, signal: slot.signal };
    try {
      for await (const batch of readEvents(port.transport, order, onOpen)) {
        for (const { event = "message", data } of batch) {
          const value = parseData(data);
          if (event === "gap" || event === "catching_up" || event === "closed") {
            yield { kind: event, data: value };
            if (event === "closed") return;
            continue;
          }
          const seq = typeof value["seq"] === "number" ? value["seq"] : null;
          if (seq !== null) cursor = seq;
          yield { kind: "frame", seq, frame: value as WireFrame };
        }
      }
      return;
    } catch (error) {
      if (!isOurs(slot, signal)) throw error;
    } finally {
      slot.release();
    }
  }
}

/** Begins with `reset`, and anew whenever something may have been missed. */
export async function* followChanges(
  port: StreamPort,
  signal: AbortSignal,
): AsyncGenerator<ChangeView, void> {
  for (;;) {
    const slot = await port.slots.take("changes", signal);
    if (slot === undefined) {
      // The daemon is asked, so that a cut is noticed here too.
      await call(port.transport, { path: "/health", signal });
      yield { kind: "reset" };
      await pause(port.pollMs * 3, signal);
      continue;
    }
    try {
      for await (const batch of readEvents(port.transport, { path: "/events", signal: slot.signal }))
        for (const { data } of batch) yield parseData(data) as ChangeView;
      return;
    } catch (error) {
      if (!isOurs(slot, signal)) throw error;
    } finally {
      slot.release();
    }
  }
}

/** The stream ended because we gave it up for another tab. */
function isOurs(slot: Slot, signal: AbortSignal): boolean {
  return slot.signal.aborted && !signal.aborted;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
