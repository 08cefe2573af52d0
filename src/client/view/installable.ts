// Agents to suggest to users who have none.
export { INSTALLABLE } from "../../protocol/tested-agents.ts";
