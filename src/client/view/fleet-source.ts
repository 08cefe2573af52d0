// All sessions as a stream of inputs for the list: what there is, then what changes, across restarts of the daemon.
// Runs in a browser too.
import type { Backoff } from "../backoff.ts";
import { createBatches, keepNewest } from "./batches.ts";
import type { FleetInput } from "./fleet.ts";
import { keepOpen } from "./keep-open.ts";
import type { ViewPort } from "./port.ts";
import { readRequests } from "./requests.ts";

export interface FleetSource {
  /** Nothing is told behind it. Safe to call twice. */
  close(): Promise<void>;
}

/** Begins at once; the listener is never called before this returns. */
export function openFleet(
  port: ViewPort,
  listener: (inputs: readonly FleetInput[]) => void,
  { backoff }: { backoff?: Backoff } = {},
): FleetSource {
  const over = new AbortController();
  const { signal } = over;
  const batches = createBatches<FleetInput>((inputs) => {
    if (!signal.aborted) listener(inputs);
  }, thin);
  batches.push([{ kind: "link", state: "connecting" }]);
  const follow = async (opened: () => void): Promise<boolean> => {
    for await (const change of port.changes(signal)) {
      if (signal.aborted) return true;
      if (change.kind !== "reset") {
        batches.push([{ kind: "change", change }]);
        continue;
      }
      const [sessions, requests] = await Promise.all([port.sessions(), readRequests(port)]);
      batches.push([
        { kind: "sessions", sessions },
        { kind: "requests", requests },
      ]);
      opened();
    }
    return signal.aborted;
  };
  const done = keepOpen(follow, {
    signal,
    isFinal: () => false,
    tell: (state) => batches.push([{ kind: "link", ...state }]),
    ...(backoff === undefined ? {} : { backoff }),
  });
  return {
    async close() {
      over.abort();
      batches.close();
      await done;
    },
  };
}

/** A busy session changes many times a tick: only how it stands at the end counts. */
function thin(inputs: readonly FleetInput[]): readonly FleetInput[] {
  return keepNewest(inputs, (input) => {
    if (input.kind !== "change") return input.kind === "link" ? "link" : undefined;
    return input.change.kind === "session" ? `session ${input.change.session.session_id}` : undefined;
  });
}
