// Lists, shows and answers requests, over HTTP or the socket. A user at a terminal sees the whole request and confirms the
// answer; otherwise the request must be named, and only the version that was read is answered.
import { CodedError } from "../base/coded-error.ts";
import { mapBounded } from "../base/map-bounded.ts";
import { defined } from "../base/values.ts";
import type { Answer, RequestRow, RequestsFilter } from "../client/index.ts";
import type { AskingSession } from "../client/view/asker.ts";
import { type Askers, type InboxItem, listInbox, toInboxCard } from "../client/view/inbox.ts";
import {
  isNamed,
  isSameAnswer,
  MIN_ID_LENGTH,
  pickRequest,
  REQUEST_ID,
  type RequestArguments,
} from "./answers.ts";
import { defineFlag, type Flag, UsageError } from "./command.ts";
import { type Output, show } from "./output.ts";
import { answerText, formatOutcome, formatPending, formatSettled } from "./request-outcome.ts";
import { formatRequest, makeHint, type RequestWords, requireOffered } from "./request-text.ts";

export interface RequestPort {
  list(filter: RequestsFilter & { tree?: boolean }): Promise<ListedRequests>;
  /** The whole request. Undefined if it is not found by its id alone; then `list` may know its session. */
  get(request_id: string, session_id?: string): Promise<RequestRow | undefined>;
  respond(row: RequestRow, answer: Answer, shown_hash: string): Promise<RespondedRequest>;
  /** The asking session; undefined if it is not known. */
  findSession(session_id: string): Promise<AskingSession | undefined>;
}

export interface ListedRequests {
  requests: RequestRow[];
  /** Their sessions, as far as they are known. */
  sessions: readonly AskingSession[];
}

interface RespondedRequest {
  request: RequestRow;
  repeated: boolean;
  notice?: string | undefined;
}

export interface RequestContext {
  output: Output;
  /** Print one JSON document instead of text, or one per line when streaming. */
  isJson: boolean;
  words: RequestWords;
  /** The session whose agent runs this program. */
  self?: string | undefined;
  /** All of stdin; undefined if nothing is piped in. */
  readInput(): Promise<string | undefined>;
  /** Asks the user; absent without a terminal. */
  confirm?(question: string): Promise<boolean>;
}

/** As many are read at a time. */
const PARALLEL = 16;
/** The number of requests to choose from. */
const MAX_CHOICES = 20;
export const SETTLED = { include_settled: true, include_orphaned: true };

export const OWN_REQUEST = "an agent cannot answer its own request; its parent or the user answers it";

export const SHOWN: Flag = defineFlag("--shown HASH", "only if the request still has this shown_hash");
export const INPUT: Flag = defineFlag("--input JSON", "run the tool with this input instead");

export interface ListHow {
  isIdsOnly: boolean;
  /** Pending ones in a table. */
  isBrief?: boolean;
  /** Pending requests for exactly the same are one card, or one row of the table. */
  isGrouped?: boolean;
}

/** Settled requests in a table; pending ones in another one, or whole. */
export async function listRequests(
  port: RequestPort,
  context: RequestContext,
  filter: RequestsFilter & { tree?: boolean },
  { isIdsOnly, isBrief = false, isGrouped = false }: ListHow,
): Promise<number> {
  const { requests: listed, sessions } = await port.list(filter);
  if (isIdsOnly) return show(context, { requests: listed }, () => listed.map((row) => row.request_id));
  const isTable = isBrief && !context.isJson;
  const requests = await completeAll(port, listed);
  const { output, isJson, words } = context;
  const pending = requests.filter(({ status }) => status === "pending");
  const settled = requests.filter(({ status }) => status !== "pending");
  if (pending.length === 0 && !isJson) output.note("No pending requests");
  const known = new Map(sessions.map((session) => [session.session_id, session]));
  const { columns } = output;
  const items = isGrouped ? listInbox(pending, known) : pending.map((row) => ({ requests: [row] }));
  const document = {
    requests,
    sessions,
    ...(isGrouped && { items: items.map((item) => ({ request_ids: item.requests.map(getId) })) }),
  };
  return show(context, document, () => [
    ...(settled.length === 0 ? [] : formatSettled(settled, columns, Date.now())),
    ...(isTable
      ? formatPending(items, known, { columns, nowMs: Date.now(), words })
      : items.flatMap((item) => formatItem(item, known, { columns, words }))),
  ]);
}

function getId({ request_id }: RequestRow): string {
  return request_id;
}

/** The card of the item in full; `hint` is its last line. */
export function formatItem(
  item: InboxItem,
  sessions: Askers,
  { columns, words, hint, answer }: ItemHow,
): string[] {
  const [first] = item.requests;
  if (first === undefined) return [];
  const card = toInboxCard(item, sessions);
  const how = { words, card, ...defined({ answer }) };
  return formatRequest(first, hint ?? makeHint(first, words, item.requests.length), columns, how);
}

interface ItemHow {
  columns: number;
  words: RequestWords;
  hint?: string;
  answer?: Answer;
}

export async function showRequest(
  port: RequestPort,
  context: RequestContext,
  request: string,
  toDocument: (row: RequestRow) => object = (row) => row,
): Promise<number> {
  const row = await findRequest(port, request, context.words);
  const { output, words } = context;
  const session = await port.findSession(row.session_id);
  return show(context, toDocument(row), () => {
    const answer = row.answer === undefined ? "" : `: ${answerText(row.answer, words)}`;
    const hint = row.status === "pending" ? makeHint(row, words) : `${row.status}${answer}`;
    return formatRequest(row, hint, output.columns, { words, session, hasDetails: true });
  });
}

export interface AnswerOrder {
  verb: string;
  given: RequestArguments;
  /** `--shown`. */
  shown: string | undefined;
  /** `--yes`. */
  isConfirmed?: boolean;
  /** It permits nothing, so it needs no id while only one request is pending. */
  isRefusal: boolean;
  toAnswer(given: RequestArguments, row: RequestRow): Answer;
}

/** 0 if this answer counts, 1 if another one came first or the user did not confirm. */
export async function answerRequest(
  port: RequestPort,
  context: RequestContext,
  order: AnswerOrder,
): Promise<number> {
  const row = await findTarget(port, context, order);
  if (row.session_id === context.self) throw new CodedError("not_allowed", OWN_REQUEST);
  const answer = order.toAnswer(order.given, row);
  requireOffered(row, answer, context.words);
  if (!(await confirmAnswer(port, context, order, row, answer))) return 1;
  const responded = await port.respond(row, answer, order.shown ?? row.shown_hash);
  await show(context, responded, () => formatOutcome(responded, context.words));
  const counts = responded.request.answer;
  return !responded.repeated || counts === undefined || isSameAnswer(answer, counts, row) ? 0 : 1;
}

/** Reads `2=-` from stdin: that keeps the text out of the process list and the shell's history. */
export async function readPipedAnswers(
  words: readonly string[],
  { readInput }: Pick<RequestContext, "readInput">,
): Promise<readonly string[]> {
  if (!words.some((word) => word.endsWith("=-"))) return words;
  const text = (await readInput())?.replace(/\n$/, "");
  if (text === undefined) throw new UsageError("=- reads the text from stdin: pipe it in");
  return words.map((word) => (word.endsWith("=-") ? `${word.slice(0, -1)}${JSON.stringify(text)}` : word));
}

export function requireRequestId(word: string, { program }: RequestWords): void {
  if (!REQUEST_ID.test(word))
    throw new UsageError(`"${word}" is not a request id (req_…); \`${program} requests\` lists them`);
}

/** Found by id, by hash, or (to decline) as the only pending one. */
async function findTarget(
  port: RequestPort,
  { output, words }: RequestContext,
  { verb, given, shown, isRefusal }: AnswerOrder,
): Promise<RequestRow> {
  const { request } = given;
  if (request !== undefined) {
    const row = await findRequest(port, request, words);
    if (isRefusal || shown !== undefined || isNamed(given, row)) return row;
  } else if (shown !== undefined) {
    const found = (await port.list({})).requests.filter((row) => row.shown_hash === shown);
    return complete(port, pickRequest(found, undefined));
  } else if (isRefusal) {
    return complete(port, pickRequest((await port.list({ limit: MAX_CHOICES })).requests, undefined));
  } else if (given.text !== "" && verb !== "answer") requireRequestId(given.words[0] ?? "", words);
  const pending = (await port.list({ limit: MAX_CHOICES })).requests.slice(0, MAX_CHOICES);
  if (pending.length === 0) throw new UsageError("no pending requests");
  const command = ({ request_id }: RequestRow): string =>
    `${words.program} ${verb} ${request_id}${given.text === "" ? "" : " …"}`;
  for (const row of pending)
    output.ask(formatRequest(row, `Answer: ${command(row)}`, output.talkColumns, { words }).join("\n"));
  const commands = pending.map((row) => `  ${command(row)}`);
  throw new UsageError(
    `name the request with at least ${MIN_ID_LENGTH} characters of its id:\n${commands.join("\n")}`,
  );
}

/** Shows what is answered, and asks if there is a user to ask. */
async function confirmAnswer(
  port: RequestPort,
  { output, confirm, isJson, words }: RequestContext,
  { isConfirmed = false }: AnswerOrder,
  row: RequestRow,
  answer: Answer,
): Promise<boolean> {
  const isAsked = confirm !== undefined && !isConfirmed;
  if (isJson && !isAsked) return true;
  const session = await port.findSession(row.session_id);
  const hint = `Your answer: ${answerText(answer, words)}`;
  output.ask(formatRequest(row, hint, output.talkColumns, { words, session, answer }).join("\n"));
  if (!isAsked || row.status !== "pending" || (await confirm("Send it?"))) return true;
  output.note("Not answered");
  return false;
}

/** The whole request, also if it is settled: the daemon reports its outcome. */
export async function findRequest(
  port: RequestPort,
  request: string,
  { program }: RequestWords,
): Promise<RequestRow> {
  const exact = await port.get(request);
  if (exact?.request_id === request) return exact;
  for (const filter of [{}, SETTLED]) {
    const found = (await port.list(filter)).requests.filter(({ request_id }) =>
      request_id.startsWith(request),
    );
    if (found.length > 0) return complete(port, pickRequest(found, request));
  }
  throw new CodedError("request_unknown", `no request ${request}; \`${program} requests\` lists them`);
}

/** The whole requests, where the list has only a part. */
export function completeAll(port: RequestPort, rows: readonly RequestRow[]): Promise<RequestRow[]> {
  return mapBounded(rows, PARALLEL, (row) => complete(port, row));
}

async function complete(port: RequestPort, row: RequestRow): Promise<RequestRow> {
  return row.is_cut ? ((await port.get(row.request_id, row.session_id)) ?? row) : row;
}
