// Inputs for the session list: all sessions, then their changes, across daemon restarts. Also runs in browsers.
import { defined } from "../../base/values.ts";
import type { Backoff } from "../backoff.ts";
import { createBatches, keepNewest } from "./batches.ts";
import type { FleetInput } from "./fleet.ts";
import { keepOpen } from "./keep-open.ts";
import type { ViewPort } from "./port.ts";
import { readRequests } from "./requests.ts";

const PAGE = 500;

export interface FleetSource {
  /** The listener is not called afterwards. Safe to call twice. */
  close(): Promise<void>;
}

/** Starts immediately; the listener is never called before this returns. */
export function openFleet(
  port: ViewPort,
  listener: (inputs: readonly FleetInput[]) => void,
  { backoff, tickMs }: { backoff?: Backoff; tickMs?: number } = {},
): FleetSource {
  const over = new AbortController();
  const { signal } = over;
  const batches = createBatches<FleetInput>(
    (inputs) => {
      if (!signal.aborted) listener(inputs);
    },
    thin,
    tickMs,
  );
  batches.push([{ kind: "link", state: "connecting" }]);
  const follow = async (opened: () => void): Promise<boolean> => {
    for await (const change of port.changes(signal)) {
      if (signal.aborted) return true;
      if (change.kind !== "reset") {
        batches.push([{ kind: "change", change }]);
        continue;
      }
      const [first, requests] = await Promise.all([port.sessionsPage({ limit: PAGE }), readRequests(port)]);
      batches.push([
        { kind: "sessions", sessions: first.sessions },
        { kind: "requests", requests },
      ]);
      opened();
      // Changes wait until all pages are read: a page must not undo them, and they have what changed places meanwhile.
      for (let after = first.next; after !== undefined && !signal.aborted; ) {
        const { sessions, next } = await port.sessionsPage({ limit: PAGE, after });
        batches.push([{ kind: "more_sessions", sessions }]);
        after = next;
      }
    }
    return signal.aborted;
  };
  const done = keepOpen(follow, {
    signal,
    isFinal: () => false,
    report: (state) => batches.push([{ kind: "link", ...state }]),
    ...defined({ backoff }),
  });
  return {
    async close() {
      over.abort();
      batches.close();
      await done;
    },
  };
}

/** A busy session changes many times per tick; only its last state counts. */
function thin(inputs: readonly FleetInput[]): readonly FleetInput[] {
  return keepNewest(inputs, (input) => {
    if (input.kind !== "change") return input.kind === "link" ? "link" : undefined;
    return input.change.kind === "session" ? `session ${input.change.session.session_id}` : undefined;
  });
}
