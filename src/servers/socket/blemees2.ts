// The blemees/2 dialect: our own frames as they are.
import { CodedError } from "../../base/coded-error.ts";
import { explainIssues } from "../../base/schema.ts";
import { INBOUND, type InboundType, PROTOCOL } from "../../protocol/wire/blemees2.ts";
import type { Dialect } from "./dialect.ts";

export const blemees2: Dialect = {
  protocol: PROTOCOL,
  deletesTranscripts: false,
  accept(frame) {
    const type = frame["type"];
    if (typeof type !== "string") throw new CodedError("invalid_message", "/type: required, expected string");
    if (!Object.hasOwn(INBOUND, type)) {
      throw new CodedError("unknown_message", `unknown frame type ${JSON.stringify(type.slice(0, 80))}`);
    }
    const known = type as InboundType;
    const checked = INBOUND[known].safeParse(frame);
    if (!checked.success) {
      throw new CodedError("invalid_message", `${type}: ${explainIssues(checked.error.issues)}`);
    }
    return { type: known, frame: checked.data };
  },
  render: (frame) => frame,
  renderBatch: (batch) => batch.bytes,
};
