// A dialect of the socket: which frames clients may send, converted to blemees/2 requests, and how our frames are rendered.
// blemees/2 is the identity; blemees/1 is a projection of the same session.
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
  /** Closing with `delete` also removes the agent's own transcript, as blemees/1 requires. */
  readonly deletesTranscripts: boolean;
  /** Validates an inbound frame; throws `unknown_message`, `invalid_message` or `unsafe_flag`. */
  accept(frame: Record<string, unknown>): Request;
  /** Renders an outbound frame; undefined if this dialect has no such frame. */
  render(frame: Outbound, facts: DaemonFacts): object | undefined;
  renderBatch(batch: Batch): Buffer | undefined;
}
