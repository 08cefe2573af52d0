// Pending requests of the list, and the one that `y` accepts. Pure.
import type { Fleet } from "../../client/view/fleet.ts";
import { answerFor, type RequestCard, toRequestCard } from "../../client/view/request-card.ts";
import type { Answer, RequestRow } from "../../client/view/types.ts";
import { makeRequestKey } from "../session/state.ts";

const MAX_DEPTH = 20;

export interface PendingState {
  fleet: Fleet;
  /** The selected session. */
  selected: string | undefined;
  /** Requests whose answer was sent. */
  answered: ReadonlySet<string>;
}

export interface Shown {
  key: string;
  isRead: boolean;
}

/** The oldest of the selected session; if it has none, of its descendants. */
export function findPreviewed({ fleet, selected, answered }: PendingState): RequestRow | undefined {
  const pending = listPending({ fleet, answered });
  return (
    pending.find(({ session_id }) => session_id === selected) ??
    pending.find(({ session_id }) => selected !== undefined && isBelow(session_id, selected, fleet))
  );
}

/** At most `MAX_DEPTH` levels below, so that a cycle of parents ends. */
function isBelow(session_id: string, ancestor: string, { sessions }: Fleet): boolean {
  let at = sessions.get(session_id)?.parent;
  for (let depth = 0; at !== undefined && depth < MAX_DEPTH; depth += 1) {
    if (at === ancestor) return true;
    at = sessions.get(at)?.parent;
  }
  return false;
}

/** Oldest first, without those whose answer was sent. */
export function listPending({ fleet, answered }: Pick<PendingState, "fleet" | "answered">): RequestRow[] {
  return [...fleet.requests.values()].filter(({ request_id }) => !answered.has(request_id));
}

/** The answer of `y`; otherwise why it has none. */
export function chooseAccept(
  row: RequestRow,
  shown: Shown | undefined,
): { answer: Answer } | { why: string } {
  if (row.payload.questions !== undefined) return { why: "it asks a question: a opens it" };
  const choice = findAccept(toRequestCard(row))?.choice;
  if (choice === undefined) return { why: "it has no plain accept: a shows its choices" };
  if (shown?.key !== makeRequestKey(row)) return { why: "the request is not shown in full: a opens it" };
  if (!shown.isRead) return { why: "the request has just appeared: read it, then press again" };
  return { answer: answerFor(choice) };
}

/** The narrowest one: it has no option of the agent's. */
export function findAccept({ choices }: RequestCard): RequestCard["choices"][number] | undefined {
  return choices.find(({ choice }) => choice.decision === "accept" && choice.option === undefined);
}
