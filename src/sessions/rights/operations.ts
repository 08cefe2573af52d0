// What an agent may do to which sessions: one table, one pure decision. People may do everything.
import type { Caller } from "./caller.ts";

/** The target as seen from the agent's own session. */
export type Relation = "self" | "below" | "parent" | "above" | "sibling" | "other";

export interface Operation {
  /** After "may not": "answer requests of". */
  readonly verb: string;
  /** Where an agent may do it. */
  readonly agents: readonly Relation[];
  /** What to do instead. */
  readonly advice: string;
}

const EVERYWHERE = ["self", "below", "parent", "above", "sibling", "other"] as const;
const SUBTREE = ["self", "below"] as const;
const ASK_A_PERSON = "ask a person to do it";

export const OPERATIONS = {
  /** Name, state, and of relatives the last result. */
  see: { verb: "see", agents: EVERYWHERE, advice: "" },
  /** History, requests, queue, actions, figures. */
  read: {
    verb: "read",
    agents: SUBTREE,
    advice: "only its own session and those it spawned are readable (agents_see)",
  },
  wait: { verb: "wait for", agents: EVERYWHERE, advice: "" },
  spawn: { verb: "spawn children of", agents: SUBTREE, advice: "spawn a child of its own, without --parent" },
  /** To its parent it is quoted, as wakes are. */
  send: {
    verb: "send messages to",
    agents: [...SUBTREE, "parent"],
    advice: "send to its parent, or to a session it spawned",
  },
  interrupt: { verb: "interrupt", agents: SUBTREE, advice: ASK_A_PERSON },
  stop: { verb: "stop", agents: SUBTREE, advice: ASK_A_PERSON },
  resume: { verb: "resume", agents: SUBTREE, advice: ASK_A_PERSON },
  /** Not itself: rules for approvals can name a session that a person started by its name. */
  rename: { verb: "rename", agents: ["below"], advice: ASK_A_PERSON },
  /** Not itself: people choose sessions by their labels. */
  label: { verb: "label", agents: ["below"], advice: ASK_A_PERSON },
  /** Not itself: it would be its own judge. */
  adjust: { verb: "change settings of", agents: ["below"], advice: ASK_A_PERSON },
  archive: { verb: "archive", agents: ["below"], advice: ASK_A_PERSON },
  /** Not its own: what it was asked and did would be gone. */
  remove: { verb: "delete", agents: ["below"], advice: ASK_A_PERSON },
  quota: { verb: "end or change the waiting for limits of", agents: ["below"], advice: ASK_A_PERSON },
  cancel: { verb: "cancel messages of", agents: ["below"], advice: ASK_A_PERSON },
  undo: { verb: "undo changes of", agents: ["below"], advice: ASK_A_PERSON },
  open: { verb: "open", agents: ["below"], advice: "spawn a session of its own" },
  take: { verb: "take over", agents: [], advice: "send to it instead" },
  /** With the grant `may_answer` only. */
  answer: { verb: "answer requests of", agents: ["below"], advice: "a person answers it" },
} as const satisfies Record<string, Operation>;
export type OperationName = keyof typeof OPERATIONS;

/** What the agent's own rows say. */
export interface Grants {
  /** `may_answer` of its session. */
  mayAnswer: boolean;
  /** The setting `agents_see = "all"`. */
  seesAll: boolean;
}

export type Verdict = { isAllowed: true } | { isAllowed: false; why: string };

const ALLOWED: Verdict = { isAllowed: true };

/** `relations`: of the target to each session that the caller may be; all must allow it. None: an agent of nobody known. */
export function mayDo(
  caller: Pick<Caller, "isAgent" | "isProven">,
  name: OperationName,
  relations: readonly Relation[],
  grants: Grants,
): Verdict {
  if (!caller.isAgent) return ALLOWED;
  const { agents, advice }: Operation = OPERATIONS[name];
  const isEverywhere = agents.length === EVERYWHERE.length || (name === "read" && grants.seesAll);
  if (!isEverywhere && (relations.length === 0 || relations.some((relation) => !agents.includes(relation))))
    return { isAllowed: false, why: relations.includes("self") && name === "answer" ? OWN_REQUEST : advice };
  if (name !== "answer") return ALLOWED;
  if (!grants.mayAnswer) return { isAllowed: false, why: NOT_GRANTED };
  return caller.isProven ? ALLOWED : { isAllowed: false, why: NOT_PROVEN };
}

const OWN_REQUEST = "no agent answers its own requests; a person answers it";
const NOT_GRANTED = "it was spawned without --may-answer; a person answers it";
const NOT_PROVEN =
  "its process is not below its agent's, so nothing proves which agent it is; run it in the foreground";
