// Decides for each call of a client what its connection's caller may do, and logs what was refused.
import type { SessionRights } from "../../backends/types.ts";
import { CodedError } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import { RateLimit } from "../../base/rate-limit.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { Kin } from "../../store/types.ts";
import { unknownSessionError } from "../core/refusals.ts";
import { isForPeople } from "../requests/frames.ts";
import { type Caller, findOwnSession, listOwnSessions } from "./caller.ts";
import { type Escalation, findEscalation, type RightsOf } from "./ceiling.ts";
import { mayDo, OPERATIONS, type OperationName, type Relation } from "./operations.ts";

/** Refusals logged per window: an agent that repeats its attempt must not fill the disk. */
const MAX_LOGGED = 1000;
const LOG_WINDOW_MS = 60_000;

export interface RightsParts {
  /** The session's row; undefined if it does not exist. */
  find(session_id: string): Promise<SessionRow | undefined>;
  kin(session_ids: readonly string[]): Promise<Map<string, Kin>>;
  /** Ids of all descendants. */
  below(session_id: string): Promise<readonly string[]>;
  /** Ancestors of a session in memory, nearest first. */
  above(session_id: string): readonly string[];
  /** What a session with these options may do. */
  rightsOf(backend: string, options: Record<string, unknown>): SessionRights;
  /** The setting `agents_see = "all"`. */
  seesAll: boolean;
  log: Log;
}

/** The part of a row that gives rights. */
export type ChildRights = Pick<SessionRow, "backend" | "options"> & {
  may_answer?: boolean | undefined;
  manager?: boolean | undefined;
  mcp?: readonly string[] | undefined;
};

export class Rights {
  readonly #parts: RightsParts;
  readonly #logged = new RateLimit(MAX_LOGGED, LOG_WINDOW_MS);

  constructor(parts: RightsParts) {
    this.#parts = parts;
  }

  /** Throws `not_allowed`. A session that does not exist is left to the operation, which says so. */
  async require(caller: Caller, name: OperationName, session_id: string): Promise<void> {
    if (!caller.isAgent) return;
    if ((await this.#parts.find(session_id)) === undefined) return;
    const relations = await this.listRelations(caller, session_id);
    const verdict = mayDo(caller, name, relations, {
      mayAnswer: name === "answer" && (await this.#mayAnswer(caller)),
      seesAll: this.#parts.seesAll,
    });
    if (verdict.isAllowed) return;
    const action = `${OPERATIONS[name].verb} session ${session_id}`;
    throw this.refuse(caller, { action, target: session_id, why: verdict.why });
  }

  /** Throws `not_allowed`. `find`: the request, if it exists. */
  async requireAnswer(
    caller: Caller,
    session_id: string,
    find: () => Promise<RequestRow | undefined>,
  ): Promise<void> {
    await this.require(caller, "answer", session_id);
    if (!caller.isAgent) return;
    const row = await find();
    if (row === undefined || !isForPeople(row)) return;
    const isBudget = row.request_type === "budget";
    const action = isBudget
      ? `decide on the budget of session ${session_id}`
      : `allow session ${session_id} more rights`;
    throw this.refuse(caller, { action, target: session_id, why: "a person answers it" });
  }

  /** For what only people may do. Throws `not_allowed`. */
  requirePerson(caller: Caller, action: string): void {
    if (!caller.isAgent) return;
    throw this.refuse(caller, { action, target: "daemon", why: "ask a person to do it" });
  }

  /** Logs the attempt and returns the error. */
  refuse(
    caller: Caller,
    { action, target, why }: { action: string; target: string; why: string },
  ): CodedError {
    const { actor, peer_pid } = caller;
    if (this.#logged.allow(Date.now()))
      this.#parts.log.warn("rights.refused", { actor, peer_pid, action, target });
    const who = actor === "unknown" ? "a process that may belong to an agent" : actor;
    const data = { actor, action, target };
    return new CodedError("not_allowed", `${who} may not ${action}: ${why}`, { data });
  }

  /** The first right that a child would have and its parent does not. Throws `session_unknown`: nothing has no rights. */
  async findEscalation(child: ChildRights, parent_id: string): Promise<Escalation | undefined> {
    const parent = await this.#parts.find(parent_id);
    if (parent === undefined) throw unknownSessionError(parent_id);
    return findEscalation(this.#toRights(child), this.#toRights(parent));
  }

  /** Logs the attempt and returns the error. */
  refuseEscalation(caller: Caller, { option, why, isMissing, remedy: own }: Escalation): CodedError {
    const { actor, peer_pid } = caller;
    if (this.#logged.allow(Date.now()))
      this.#parts.log.warn("rights.refused", { actor, peer_pid, action: "escalate", target: option });
    const remedy = own ?? (isMissing === true ? "set it as its parent has it" : "leave the option out");
    const advice = `${remedy}, or let a person decide (sm spawn --ask)`;
    const what = isMissing === true ? "without" : "with";
    const message = `${actor} may not start a session ${what} ${option}: ${why}; ${advice}`;
    return new CodedError("escalation", message, { data: { actor, option } });
  }

  #toRights({ backend, options, may_answer, manager, mcp = [] }: ChildRights): RightsOf {
    const rights = this.#parts.rightsOf(backend, options);
    return { ...rights, backend, may_answer: may_answer === true, manager: manager === true, mcp };
  }

  get seesAll(): boolean {
    return this.#parts.seesAll;
  }

  find(session_id: string): Promise<SessionRow | undefined> {
    return this.#parts.find(session_id);
  }

  /** The session whose agent calls. Throws `not_allowed` if it is not known exactly. */
  requireOwnSession(caller: Caller, action: string): string {
    const own = findOwnSession(caller);
    if (own !== undefined) return own;
    const why = "its session is not known; run it with the environment that its agent's commands have";
    throw this.refuse(caller, { action, target: "daemon", why });
  }

  /** Of the session to each one that the caller may be. */
  async listRelations(caller: Caller, session_id: string): Promise<Relation[]> {
    return (await this.listRelationsOfAll(caller, [session_id])).get(session_id) ?? [];
  }

  async listRelationsOfAll(caller: Caller, session_ids: readonly string[]): Promise<Map<string, Relation[]>> {
    const own = listOwnSessions(caller);
    const kin = await this.#parts.kin([...new Set([...own, ...session_ids])]);
    const above = (id: string): readonly string[] => kin.get(id)?.above ?? [];
    return new Map(session_ids.map((id) => [id, own.map((self) => toRelation(self, id, above))]));
  }

  /** The sessions that the caller may read; undefined if it may read all. */
  async listReadable(caller: Caller): Promise<ReadonlySet<string> | undefined> {
    if (!caller.isAgent || this.#parts.seesAll) return undefined;
    const own = findOwnSession(caller);
    return new Set(own === undefined ? [] : [own, ...(await this.#parts.below(own))]);
  }

  /** Whether the caller may read a session in memory. Without waiting, for streams of changes. */
  mayReadNow(caller: Caller, session_id: string): boolean {
    if (!caller.isAgent || this.#parts.seesAll) return true;
    const own = listOwnSessions(caller);
    const line = [session_id, ...this.#parts.above(session_id)];
    return own.length > 0 && own.every((self) => line.includes(self));
  }

  async #mayAnswer(caller: Caller): Promise<boolean> {
    const rows = await Promise.all(listOwnSessions(caller).map((id) => this.#parts.find(id)));
    return rows.length > 0 && rows.every((row) => row?.may_answer === true);
  }
}

function toRelation(self: string, target: string, above: (id: string) => readonly string[]): Relation {
  if (self === target) return "self";
  if (above(target).includes(self)) return "below";
  const [parent] = above(self);
  if (parent === target) return "parent";
  if (above(self).includes(target)) return "above";
  return parent !== undefined && above(target)[0] === parent ? "sibling" : "other";
}
