// `requests` and the verbs that answer, in the shell.
import { CodedError } from "../../base/coded-error.ts";
import type { Answer, Client, RequestRow, RequestsFilter, Responded } from "../../client/index.ts";
import { type Given, isNamed, isSameAnswer, pickRequest, splitRequest } from "../answers.ts";
import { UsageError } from "../command.ts";
import { answerText, outcome, settledLines } from "../request-outcome.ts";
import { requestLines, requireOffered } from "../request-text.ts";
import { claim } from "./claim.ts";
import { type ShellContext, show } from "./context.ts";
import { answerInShell } from "./render.ts";
import type { Frame, Verb, VerbArguments } from "./verb.ts";

/** Who has to choose looks at no more. */
const MAX_CHOICE = 20;
const SHORT_ID = 8;

/** What waits is shown whole, what is over in a table. */
export async function listRequests(
  client: Client,
  context: ShellContext,
  flags: VerbArguments["flags"],
  { type: _type, id: _id, ...filter }: Frame & RequestsFilter,
): Promise<number> {
  const { request_id } = filter;
  if (request_id !== undefined) return showOne(context, await findRequest(client, request_id));
  if (context.isJson) {
    for await (const page of client.requestPages(filter)) await context.output.json(page);
    return 0;
  }
  const requests = await client.requests(filter);
  const { output } = context;
  if (flags["ids"])
    return lines(
      context,
      requests.map((row) => row.request_id),
    );
  const over = requests.filter(({ status }) => status !== "pending");
  const pending = requests.filter(({ status }) => status === "pending");
  if (pending.length === 0) output.note("No pending requests");
  return lines(context, [
    ...(over.length === 0 ? [] : settledLines(over, output.columns, Date.now())),
    ...pending.flatMap((row) =>
      requestLines(row, answerInShell(row), output.columns, { name: row.session_id.slice(0, SHORT_ID) }),
    ),
  ]);
}

export async function answerRequest(
  client: Client,
  context: ShellContext,
  given: VerbArguments,
  verb: AnswerVerb,
): Promise<number> {
  const split = splitRequest(await filled(given.words, context), given.rest);
  const shown = typeof given.flags["shown"] === "string" ? given.flags["shown"] : undefined;
  const row = await meant(client, split, shown, verb, context);
  const answer = verb.answer(split, row, given.flags);
  requireOffered(row, answer);
  // Whoever names no request has to see which one it was.
  if (split.request === undefined && !context.isJson) {
    context.output.ask(requestLines(row, "Answered:", context.output.talkColumns, { answer }).join("\n"));
  }
  const how = { shown_hash: shown ?? row.shown_hash, source: "blemeesctl" } as const;
  const responded = await respond(client, row, answer, how, given.flags["take"] === true);
  await show(context, responded, () => outcome(responded));
  // Another answer was there first: ours did nothing.
  const counts = responded.request.answer;
  return !responded.repeated || counts === undefined || isSameAnswer(answer, counts, row) ? 0 : 1;
}

type AnswerVerb = Pick<Verb, "name" | "isRefusal"> & { answer: NonNullable<Verb["answer"]> };

/** `2=-`: the text comes from stdin, so that no list of processes and no history of the shell has it. */
async function filled(words: readonly string[], context: ShellContext): Promise<readonly string[]> {
  if (!words.some((word) => word.endsWith("=-"))) return words;
  const text = (await context.readInput())?.replace(/\n$/, "");
  if (text === undefined) throw new UsageError("=- takes the text from stdin: pipe it in");
  return words.map((word) => (word.endsWith("=-") ? `${word.slice(0, -1)}${JSON.stringify(text)}` : word));
}

/** By its id, by what was looked at; a refusal also because no other one waits. */
async function meant(
  client: Client,
  split: Given,
  shown: string | undefined,
  verb: AnswerVerb,
  context: ShellContext,
): Promise<RequestRow> {
  if (split.request !== undefined) {
    const row = await findRequest(client, split.request);
    if (verb.isRefusal || shown !== undefined || isNamed(split, row)) return row;
  } else if (shown !== undefined) {
    return whole(
      client,
      pickRequest(await matching(client, {}, (row) => row.shown_hash === shown), undefined),
    );
  } else if (verb.isRefusal) {
    return whole(client, pickRequest(await client.requests({ limit: MAX_CHOICE }), undefined));
  }
  if (split.request === undefined && split.text !== "" && verb.name !== "answer") {
    const [word = ""] = split.words;
    throw new UsageError(`"${word}" is not a request id (req_…); \`blemeesctl requests\` lists them`);
  }
  const pending = await client.requests({ limit: MAX_CHOICE });
  if (pending.length === 0) throw new UsageError("no pending requests");
  const command = ({ request_id }: RequestRow): string =>
    `blemeesctl ${verb.name} ${request_id}${split.text === "" ? "" : " …"}`;
  const { output } = context;
  for (const row of pending) {
    output.ask(requestLines(row, `Answer: ${command(row)}`, output.talkColumns).join("\n"));
  }
  throw new UsageError(
    `say which request is meant:\n${pending.map((row) => `  ${command(row)}`).join("\n")}`,
  );
}

/** Whole. One that does not wait any more is found too: the daemon says what became of it. */
async function findRequest(client: Client, request: string): Promise<RequestRow> {
  const [exact] = await client.requests({ request_id: request });
  if (exact?.request_id === request) return exact;
  const begins = (row: RequestRow): boolean => row.request_id.startsWith(request);
  let found = await matching(client, {}, begins);
  if (found.length === 0) {
    const isIt = (row: RequestRow): boolean => row.request_id === request;
    found = await matching(client, { include_orphaned: true, include_settled: true }, begins, isIt);
  }
  return whole(client, pickRequest(found, request));
}

/** Page by page, no further than to the one that ends the search. */
async function matching(
  client: Client,
  filter: RequestsFilter,
  isMeant: (row: RequestRow) => boolean,
  isLast: (row: RequestRow) => boolean = () => false,
): Promise<RequestRow[]> {
  const found: RequestRow[] = [];
  for await (const { requests } of client.requestPages(filter)) {
    found.push(...requests.filter(isMeant));
    if (requests.some(isLast) || found.length > MAX_CHOICE) break;
  }
  return found;
}

async function whole(client: Client, row: RequestRow): Promise<RequestRow> {
  if (!row.is_cut) return row;
  const { session_id, request_id } = row;
  return (await client.requests({ session_id, request_id }))[0] ?? row;
}

/** Nobody drives a detached session, so its answer may come from here; from somebody who does it is taken on demand. */
async function respond(
  client: Client,
  { session_id, request_id }: RequestRow,
  answer: Answer,
  how: { shown_hash: string; source: "blemeesctl" },
  isTaking: boolean,
): Promise<Responded> {
  try {
    return await client.respond(session_id, request_id, answer, how);
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "answer_not_allowed") throw error;
  }
  const session = await claim(client, session_id, isTaking);
  return session.respond(request_id, answer, how);
}

function showOne(context: ShellContext, row: RequestRow): Promise<number> {
  return show(context, { type: "blemeesd.requests", requests: [row] }, () => {
    const said = row.answer === undefined ? "" : `: ${answerText(row.answer)}`;
    const hint = row.status === "pending" ? answerInShell(row) : `${row.status}${said}`;
    const name = row.session_id.slice(0, SHORT_ID);
    return requestLines(row, hint, context.output.columns, { name, hasDetails: true });
  });
}

async function lines({ output }: ShellContext, all: readonly string[]): Promise<number> {
  for (const line of all) await output.line(line);
  return 0;
}
