// A dialect of the socket: which frames a client may send, as requests of blemees/2, and how our frames look to
// it. blemees/2 is the identity; blemees/1 is a projection of the same session.
import type { InboundType } from "../../protocol/wire/blemees2.ts";
import type { Outbound } from "../../protocol/wire/blemees2-outbound.ts";
import type { Batch } from "../../sessions/index.ts";
import type { DaemonFacts } from "../types.ts";

export interface Request {
  type: InboundType;
  frame: Record<string, unknown>;
}

export interface Dialect {
  readonly protocol: string;
  /** Closing with `delete` also removes the agent's own transcript (blemees/1 §5.8). */
  readonly deletesTranscripts: boolean;
  /** Checks an inbound frame; throws `unknown_message`, `invalid_message` or `unsafe_flag`. */
  accept(frame: Record<string, unknown>): Request;
  /** An outbound frame as this dialect has it; undefined when it has no such frame. */
  render(frame: Outbound, facts: DaemonFacts): object | undefined;
  renderBatch(batch: Batch): Buffer | undefined;
}
