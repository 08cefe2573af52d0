// Checks that what the daemon sends matches our schemas.
import { AGENT_FRAMES, OUTBOUND } from "../../src/protocol/wire/blemees2-outbound.ts";
import type { Frame } from "./raw-client.ts";

/** Throws with the frame and the fault if a blemees/2 frame does not match its schema. */
export function checkOutbound(frames: readonly Frame[]): void {
  for (const frame of frames) {
    const schema = AGENT_FRAMES[frame.type] ?? OUTBOUND[frame.type as keyof typeof OUTBOUND];
    if (schema === undefined) throw new Error(`no schema for ${frame.type}`);
    const checked = schema.safeParse(frame);
    if (!checked.success) throw new Error(`${JSON.stringify(frame)}\n${checked.error.message}`);
  }
}
