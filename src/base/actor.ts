// The text form of an actor (protocol/actor.ts): `person`, `unknown`, `daemon`, or `agent:` and the sessions it may be.

const AGENT = "agent:";

export function toAgentActor(session_ids: readonly string[]): string {
  return session_ids.length === 0 ? "unknown" : `${AGENT}${session_ids.join(",")}`;
}

/** The sessions whose agent it may be; undefined if it is not an agent. */
export function readAgentSessions(actor: string): string[] | undefined {
  return actor.startsWith(AGENT) ? actor.slice(AGENT.length).split(",") : undefined;
}
