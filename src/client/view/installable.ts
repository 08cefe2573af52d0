// The agents that a face names to somebody who has none yet.
export { INSTALLABLE } from "../../protocol/tested-agents.ts";
