// The blemees/2 dialect: frames are sent unchanged.
import { INBOUND, PROTOCOL } from "../../protocol/wire/blemees2.ts";
import { findSimpleType } from "../../protocol/wire/simple-frames.ts";
import { checkFrame } from "./check.ts";
import type { Dialect } from "./dialect.ts";

export const blemees2: Dialect = {
  protocol: PROTOCOL,
  deletesTranscripts: false,
  accept: (frame) => {
    const type = findSimpleType(frame);
    return type === undefined ? checkFrame(INBOUND, frame) : { type, frame };
  },
  render: (frame) => frame,
  renderBatch: (batch) => batch.bytes,
};
