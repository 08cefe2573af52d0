// The client of a call, as a server determined it once for its connection, and what it may be narrowed to.
import { readAgentSessions, toAgentActor } from "../../base/actor.ts";
import { defined } from "../../base/values.ts";
import type { Actor } from "../../protocol/actor.ts";
import type { AnsweredBy, AnswerWay, ResolutionSource } from "../../protocol/requests.ts";

export interface Caller {
  readonly actor: Actor;
  /** An agent, or a process that may be one: its rights are limited. Everybody else may do everything. */
  readonly isAgent: boolean;
  /**
   * The ancestors of its process prove that it belongs to the agent. Otherwise only the environment says so, which a process
   * can change for its own children.
   */
  readonly isProven: boolean;
  /** From the kernel. */
  readonly peer_pid?: number;
  /** The protocol of its connection. */
  readonly wire: AnswerWay;
}

/** A caller in this process, such as a screen. */
export const LOCAL: Caller = { actor: "person", isAgent: false, isProven: true, wire: "socket" };

/** An agent that calls a tool on its own channel: nothing else can write there. */
export function toAgentCaller(session_id: string): Caller {
  return { actor: toAgentActor([session_id]), isAgent: true, isProven: true, wire: "tool" };
}

/** The sessions whose agent it may be; empty for a person, and for an agent that is not known. */
export function listOwnSessions({ actor }: Pick<Caller, "actor">): readonly string[] {
  return readAgentSessions(actor) ?? [];
}

/** Its session, if that is known exactly. */
export function findOwnSession(caller: Pick<Caller, "actor">): string | undefined {
  const [only, ...others] = listOwnSessions(caller);
  return others.length === 0 ? only : undefined;
}

/**
 * What a client says about itself can only take rights away. A person that claims to be a session's agent gets that agent's
 * rights. An agent's claim is ignored: one that may be one of two has what both have, and gains by being either.
 */
export function narrowCaller(caller: Caller, claimed: string | undefined): Caller {
  if (claimed === undefined || caller.isAgent) return caller;
  return { ...caller, actor: toAgentActor([claimed]), isAgent: true, isProven: true };
}

/** `source` is what the client says: it can name the screen of a person, and nothing else. */
export function toAnsweredBy(caller: Caller, source: ResolutionSource): AnsweredBy {
  const { actor, peer_pid, wire } = caller;
  const isScreen = !caller.isAgent && (source === "tui" || source === "web");
  const via: AnswerWay = isScreen ? source : wire;
  return { actor, ...defined({ peer_pid }), via };
}
