// The inbox: pending requests of all sessions, oldest first. Requests for exactly the same are one item with one card; each
// is still answered by its own id and hash. Pure, except for `answerItem`, which calls what it is given.
import { toMessage } from "../../base/coded-error.ts";
import type { Answer, RequestRow } from "../../protocol/requests.ts";
import { type Asker, type AskingSession, describeAsker, getProjectPath, nameAsker } from "./asker.ts";
import { type RequestCard, type RequestQuote, toRequestCard } from "./request-card.ts";

export interface InboxItem {
  /** Never empty, oldest first. Their cards differ only in the asking session and the reason. */
  requests: readonly RequestRow[];
}

/** Sessions that are known, by id. */
export type Askers = ReadonlyMap<string, AskingSession>;

/** What became of each request of an item. */
export interface AnswerOutcome {
  row: RequestRow;
  /** Why it was not answered; absent if it was. */
  problem?: string;
}

/** What identifies an item, by its row. Rows are never changed in place, so a list with one new row computes one key. */
export type InboxKeys = WeakMap<RequestRow, { place: string; key: string }>;

/** `requests`: oldest first. `keys`: kept from one call to the next, it saves work. */
export function listInbox(
  requests: Iterable<RequestRow>,
  sessions: Askers,
  keys: InboxKeys = new WeakMap(),
): InboxItem[] {
  const items: { requests: RequestRow[] }[] = [];
  const known = new Map<string, { requests: RequestRow[] }>();
  for (const row of requests) {
    const key = makeGroupKey(row, sessions.get(row.session_id), keys);
    const item = key === undefined ? undefined : known.get(key);
    if (item !== undefined) {
      item.requests.push(row);
      continue;
    }
    const created = { requests: [row] };
    items.push(created);
    if (key !== undefined) known.set(key, created);
  }
  return items;
}

/** The card of the first request, with all sessions that ask for the same, and all reasons. */
export function toInboxCard({ requests }: InboxItem, sessions: Askers): RequestCard {
  const [first, ...others] = requests;
  if (first === undefined) throw new Error("an item has at least one request");
  const card = toRequestCard(first, sessions.get(first.session_id));
  if (others.length === 0) return card;
  return {
    ...card,
    asks: card.asks.replace(/^asks/, "ask"),
    others: others.map((row): Asker => describeAsker(row.backend, sessions.get(row.session_id))),
    why: uniteReasons([card, ...others.map((row) => toRequestCard(row))]),
  };
}

/** Identifies what is shown of an item: it changes when a request joins, leaves or changes. */
export function makeItemKey({ requests }: InboxItem): string {
  return requests
    .map(({ request_id, shown_hash, is_cut }) => `${request_id} ${shown_hash}${is_cut ? " cut" : ""}`)
    .join("\n");
}

/** Answers each request of the item as it was shown. */
export async function answerItem(
  { requests }: InboxItem,
  answer: Answer,
  respond: (row: RequestRow, answer: Answer) => Promise<unknown>,
): Promise<AnswerOutcome[]> {
  return Promise.all(
    requests.map(async (row): Promise<AnswerOutcome> => {
      try {
        await respond(row, answer);
        return { row };
      } catch (error) {
        return { row, problem: toMessage(error) };
      }
    }),
  );
}

/** "accepted 4 of 5; not answered: kid-3 (withdrawn)". Untrusted names. */
export function describeOutcomes(
  outcomes: readonly AnswerOutcome[],
  answer: Answer,
  sessions: Askers,
): string {
  const verb = "decision" in answer ? DONE[answer.decision] : "answered";
  const failed = outcomes.filter(({ problem }) => problem !== undefined);
  const count = outcomes.length === 1 ? "" : ` ${outcomes.length - failed.length} of ${outcomes.length}`;
  const done = failed.length === outcomes.length ? [] : [`${verb}${count}`];
  const missed = failed.map(({ row, problem }) => {
    const { session_id } = row;
    return `${nameAsker(sessions.get(session_id) ?? { session_id })} (${problem})`;
  });
  return [...done, ...(missed.length === 0 ? [] : [`not answered: ${missed.join(", ")}`])].join("; ");
}

const DONE = {
  accept: "accepted",
  acceptForSession: "accepted for the session",
  acceptAlways: "accepted always",
  decline: "declined",
  cancel: "declined and stopped",
} as const;

/**
 * Made of the card itself, so that nothing shown for one request can differ for another. Undefined: never together with
 * others, because it is not all known, or needs its own answers.
 */
function makeGroupKey(
  row: RequestRow,
  session: AskingSession | undefined,
  keys: InboxKeys,
): string | undefined {
  if (row.is_cut === true || row.payload.questions !== undefined) return undefined;
  const known = keys.get(row);
  const place = (session && getProjectPath(session)) ?? row.session_id;
  if (known?.place === place) return known.key;
  const { asks, parts, choices } = toRequestCard(row);
  const key = JSON.stringify([place, row.backend, asks, parts, choices]);
  keys.set(row, { place, key });
  return key;
}

function uniteReasons(cards: readonly RequestCard[]): RequestQuote[] {
  const reasons = new Map(cards.flatMap(({ why }) => why).map((quote) => [quote.text, quote]));
  return [...reasons.values()];
}
