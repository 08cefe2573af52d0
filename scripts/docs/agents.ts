// The tested versions of the agents, as the table in docs/operations.md.
import { TESTED_AGENTS } from "../../src/protocol/tested-agents.ts";
import { table } from "./markdown.ts";

export function agentTables(): Map<string, string> {
  const rows = TESTED_AGENTS.map(({ title, oldest, newest }) => [title, oldest, newest]);
  return new Map([["agents", table(["agent", "oldest tested", "newest tested"], rows)]]);
}
