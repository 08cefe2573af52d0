// The blemees/2 dialect: frames are sent unchanged.
import { INBOUND, PROTOCOL } from "../../protocol/wire/blemees2.ts";
import { checkFrame } from "./check.ts";
import type { Dialect } from "./dialect.ts";

export const blemees2: Dialect = {
  protocol: PROTOCOL,
  deletesTranscripts: false,
  accept: (frame) => checkFrame(INBOUND, frame),
  render: (frame) => frame,
  renderBatch: (batch) => batch.bytes,
};
