// Checks that what the daemon sends is what our schemas say.
import { AGENT_FRAMES, OUTBOUND } from "../../src/protocol/wire/blemees2-outbound.ts";
import type { Frame } from "./raw-client.ts";

/** Throws with the frame and the fault when a frame of blemees/2 does not fit its schema. */
export function checkOutbound(frames: readonly Frame[]): void {
  for (const frame of frames) {
    const schema = AGENT_FRAMES[frame.type] ?? OUTBOUND[frame.type as keyof typeof OUTBOUND];
    if (schema === undefined) throw new Error(`no schema for ${frame.type}`);
    const checked = schema.safeParse(frame);
    if (!checked.success) throw new Error(`${JSON.stringify(frame)}\n${checked.error.message}`);
  }
}
