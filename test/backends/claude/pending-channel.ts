// Pending requests on a control channel, without a process.
import { Pending, type PendingParts } from "../../../src/backends/claude/pending.ts";
import { ControlChannel } from "../../../src/base/claude-wire/control.ts";
import type { JsonObject } from "../../../src/base/json.ts";

type Parts = Omit<PendingParts, "control"> & { write(line: string): Promise<void> };

/** `take` gets every frame that claude prints. */
export function openPending(parts: Parts): { pending: Pending; take(frame: JsonObject): void } {
  const { write, ...rest } = parts;
  const control = new ControlChannel({ name: "test", write, request: (request) => pending.take(request) });
  const pending = new Pending({ ...rest, control });
  return {
    pending,
    take: (frame) => {
      if (!control.take(frame)) pending.see(frame);
    },
  };
}
