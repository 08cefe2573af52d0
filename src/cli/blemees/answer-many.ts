// `approve` and `decline` for several requests. All are found before one is answered. Requests for exactly the same are one
// card: shown once, confirmed once, and each is answered by its own id and hash.
import { CodedError } from "../../base/coded-error.ts";
import { revealLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import type { Answer, HttpClient, RequestRow } from "../../client/index.ts";
import { nameAsker } from "../../client/view/asker.ts";
import {
  type AnswerOutcome,
  type Askers,
  answerItem,
  describeOutcomes,
  type InboxItem,
  listInbox,
} from "../../client/view/inbox.ts";
import { summarizeRequest } from "../../client/view/request-what.ts";
import { isNamed, isSameAnswer, pickRequest, REQUEST_ID, type RequestArguments } from "../answers.ts";
import { type Arguments, UsageError } from "../command.ts";
import { answerText } from "../request-outcome.ts";
import { requireOffered } from "../request-text.ts";
import { completeAll, formatItem, OWN_REQUEST, type RequestPort } from "../requests.ts";
import type { BlemeesContext } from "./command.ts";
import { findSession } from "./find.ts";
import { describeFlags, findAll, hasSelection, selectSessions } from "./select.ts";

export interface ManyOrder {
  verb: string;
  given: Arguments;
  /** Requests and sessions; empty if sessions are chosen by flags. */
  names: readonly string[];
  /** The rest of the command. */
  text: Omit<RequestArguments, "request">;
  isRefusal: boolean;
  toAnswer(given: RequestArguments, row: RequestRow): Answer;
}

interface Targets {
  rows: RequestRow[];
  sessions: Askers;
  /** What was chosen by flags, and cannot be answered this way. */
  left: AnswerOutcome[];
}

/** 0 if all were answered. */
export async function answerMany(
  http: HttpClient,
  port: RequestPort,
  context: BlemeesContext,
  order: ManyOrder,
): Promise<number> {
  const { rows, sessions, left } = await findTargets(http, port, context, order);
  const items = listInbox(rows, sessions);
  requireLook(context, order, items);
  const { output, isJson } = context;
  const outcomes = [...left];
  for (const { row, problem } of left) output.error(`left out: ${nameRow(row, sessions)}: ${problem}`);
  for (const item of items) {
    const [first] = item.requests;
    if (first === undefined) continue;
    const answer = makeAnswer(order, first);
    const isWanted = await confirmItem(context, order, { item, answer, sessions });
    const ended = isWanted
      ? await answerItem(item, answer, (row) => respond(port, row, answer))
      : item.requests.map((row) => ({ row, problem: "not confirmed" }));
    outcomes.push(...ended);
    const what = revealLine(summarizeRequest(first, sessions.get(first.session_id)?.cwd));
    const said = `${what}: ${revealLine(describeOutcomes(ended, answer, sessions))}`;
    if (isJson) continue;
    if (ended.some(({ problem }) => problem !== undefined)) output.error(said);
    else await output.line(said);
  }
  const exit_code = outcomes.some(({ problem }) => problem !== undefined) ? 1 : 0;
  if (isJson) await output.json({ exit_code, results: outcomes.map(toResult) });
  return exit_code;
}

async function findTargets(
  http: HttpClient,
  port: RequestPort,
  context: BlemeesContext,
  order: ManyOrder,
): Promise<Targets> {
  const { given, names } = order;
  const { requests, sessions: asking } = await port.list({});
  const sessions = new Map(asking.map((session) => [session.session_id, session]));
  const isChosen = hasSelection(given);
  const chosen = isChosen
    ? await findChosen(http, context, given, requests)
    : await findAll(names, (name) => findNamed(http, requests, name, order));
  const listed =
    given.flags["same"] === true ? addSame(chosen, await completeAll(port, requests), sessions) : chosen;
  const unique = [...new Map(listed.map((row) => [row.request_id, row])).values()];
  const rows = await completeAll(port, unique);
  const checked = rows.map((row) => ({ row, ...defined({ problem: findProblem(context, order, row) }) }));
  const left = checked.filter(({ problem }) => problem !== undefined);
  if (left.length > 0 && !isChosen) {
    const lines = left.map(({ row, problem }) => `  ${row.request_id}: ${problem}`);
    throw new UsageError([`nothing done: ${left.length} of ${rows.length} requests:`, ...lines].join("\n"));
  }
  return { rows: rows.filter((_row, at) => checked[at]?.problem === undefined), sessions, left };
}

/** The requests of sessions that are chosen by flags. */
async function findChosen(
  http: HttpClient,
  context: BlemeesContext,
  given: Arguments,
  requests: readonly RequestRow[],
): Promise<RequestRow[]> {
  const { sessions } = await selectSessions(http, given, [], context);
  const ids = new Set(sessions.map(({ session_id }) => session_id));
  const found = requests.filter(({ session_id }) => ids.has(session_id));
  if (found.length > 0) return found;
  const count = sessions.length === 1 ? "the session that fits" : `the ${sessions.length} sessions that fit`;
  throw new CodedError(
    "request_unknown",
    `nothing done: no request is pending in ${count} ${describeFlags(given)}`,
  );
}

/** By its id, or as the only request of a session. */
async function findNamed(
  http: HttpClient,
  requests: readonly RequestRow[],
  name: string,
  { isRefusal }: ManyOrder,
): Promise<RequestRow> {
  if (REQUEST_ID.test(name)) {
    const row = pickRequest(requests, name);
    if (isRefusal || isNamed({ request: name, text: "", words: [] }, row)) return row;
    throw new UsageError(`"${name}" is too short: give more of the id, ${row.request_id}`);
  }
  const { session_id } = await findSession(http, name);
  const own = requests.filter((row) => row.session_id === session_id);
  const [only, ...others] = own;
  const called = JSON.stringify(name);
  if (only === undefined) throw new UsageError(`session ${called} has no pending request`);
  if (others.length === 0) return only;
  const ids = own.map(({ request_id }) => request_id).join(", ");
  throw new UsageError(`session ${called} has ${own.length} pending requests; name them: ${ids}`);
}

/** With all that ask for exactly the same. */
function addSame(
  chosen: readonly RequestRow[],
  requests: readonly RequestRow[],
  sessions: Askers,
): RequestRow[] {
  const ids = new Set(chosen.map(({ request_id }) => request_id));
  return listInbox(requests, sessions)
    .filter((item) => item.requests.some(({ request_id }) => ids.has(request_id)))
    .flatMap((item) => item.requests);
}

/** Why this request cannot be answered this way. */
function findProblem({ self, words }: BlemeesContext, order: ManyOrder, row: RequestRow): string | undefined {
  if (row.session_id === self) return OWN_REQUEST;
  if (row.status !== "pending") return `it is ${row.status} already`;
  try {
    requireOffered(row, makeAnswer(order, row), words);
    return undefined;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.message;
  }
}

function makeAnswer({ text, toAnswer }: ManyOrder, row: RequestRow): Answer {
  return toAnswer({ request: row.request_id, ...text }, row);
}

/** Without a terminal only requests that are named by their ids are approved: those were read. */
function requireLook(context: BlemeesContext, order: ManyOrder, items: readonly InboxItem[]): void {
  const { isRefusal, names, verb, given } = order;
  const isRead = names.length > 0 && names.every((name) => REQUEST_ID.test(name));
  if (isRefusal || isRead || given.flags["yes"] === true || context.confirm !== undefined) return;
  const lines = items.map(({ requests }) => {
    const what = requests[0] === undefined ? "" : revealLine(summarizeRequest(requests[0]));
    return `  ${context.words.program} ${verb} ${requests.map(({ request_id }) => request_id).join(" ")}  # ${what}`;
  });
  throw new UsageError(
    [
      "without a terminal, requests are named by their ids:",
      ...lines,
      "or add --yes to take whatever they ask for",
    ].join("\n"),
  );
}

async function confirmItem(
  { output, confirm, isJson, words }: BlemeesContext,
  { given }: ManyOrder,
  { item, answer, sessions }: { item: InboxItem; answer: Answer; sessions: Askers },
): Promise<boolean> {
  const isAsked = confirm !== undefined && given.flags["yes"] !== true;
  if (isJson && !isAsked) return true;
  const hint = `Your answer: ${answerText(answer, words)}`;
  output.ask(formatItem(item, sessions, { columns: output.talkColumns, words, hint, answer }).join("\n"));
  if (!isAsked) return true;
  const { length } = item.requests;
  return confirm(length === 1 ? "Send it?" : `Send it to all ${length}?`);
}

async function respond(port: RequestPort, row: RequestRow, answer: Answer): Promise<void> {
  const { repeated, request } = await port.respond(row, answer, row.shown_hash);
  const counts = request.answer;
  if (repeated && counts !== undefined && !isSameAnswer(answer, counts, row))
    throw new CodedError("already_answered", `already answered: ${answerText(counts)}`);
}

function nameRow({ session_id, request_id }: RequestRow, sessions: Askers): string {
  return revealLine(`${nameAsker(sessions.get(session_id) ?? { session_id })} (${request_id})`);
}

function toResult({ row: { request_id, session_id }, problem }: AnswerOutcome): object {
  const error = problem === undefined ? undefined : { message: problem };
  return { request_id, session_id, ok: error === undefined, ...defined({ error }) };
}
