// `requests` and the verbs that answer, in the shell.
import { CodedError } from "../../base/coded-error.ts";
import type { Answer, Client, RequestFrame, RequestRow, Responded } from "../../client/index.ts";
import { UsageError } from "../command.ts";
import { table } from "../output.ts";
import { pickRequest, splitRequest } from "./answers.ts";
import { claim } from "./claim.ts";
import { type ShellContext, show } from "./context.ts";
import { answerInShell } from "./render.ts";
import { duration } from "./reply.ts";
import { requestLines, VERB_OF } from "./request-text.ts";
import type { Frame, Verb, VerbArguments } from "./verb.ts";

/** What waits is shown whole, what is over in a table. */
export async function listRequests(
  client: Client,
  context: ShellContext,
  flags: VerbArguments["flags"],
  frame: Frame,
): Promise<number> {
  const reply = await client.request(frame as Extract<RequestFrame, { type: "blemeesd.list_requests" }>);
  const { requests } = reply;
  const { output } = context;
  return show(context, reply, () => {
    if (flags["ids"]) return requests.map(({ request_id }) => request_id);
    const over = requests.filter(({ status }) => status !== "pending");
    const pending = requests.filter(({ status }) => status === "pending");
    if (pending.length === 0) output.note("nothing waits for an answer");
    return [
      ...(over.length === 0 ? [] : settledLines(over, output.columns, Date.now())),
      ...pending.flatMap((row) => requestLines(row, answerInShell(row), output.columns)),
    ];
  });
}

export async function answerRequest(
  client: Client,
  context: ShellContext,
  given: VerbArguments,
  toAnswer: NonNullable<Verb["answer"]>,
): Promise<number> {
  const split = splitRequest(await filled(given.words, context), given.rest);
  const row = await find(client, split.request);
  const answer = toAnswer(split, row, given.flags);
  // Whoever names no request has to see which one it was.
  if (split.request === undefined && !context.isJson) {
    context.output.ask(requestLines(row, "answered:", context.output.talkColumns).join("\n"));
  }
  const shown = given.flags["shown"];
  const shown_hash = typeof shown === "string" ? shown : row.shown_hash;
  const how = { shown_hash, source: context.readLines === undefined ? "api" : "tui" } as const;
  const responded = await respond(client, row, answer, how, given.flags["take"] === true);
  await show(context, responded, () => [outcome(responded)]);
  return isAsSaid(responded, answer) ? 0 : 1;
}

/** `2=-`: the text comes from stdin, so that no list of processes and no history of the shell has it. */
async function filled(words: readonly string[], context: ShellContext): Promise<readonly string[]> {
  if (!words.some((word) => word.endsWith("=-"))) return words;
  const text = (await context.readInput())?.replace(/\n$/, "");
  if (text === undefined) throw new UsageError("=- takes the text from stdin: pipe it in");
  return words.map((word) => (word.endsWith("=-") ? `${word.slice(0, -1)}${JSON.stringify(text)}` : word));
}

/** One that does not wait any more is found too: the daemon says what became of it. */
async function find(client: Client, request: string | undefined): Promise<RequestRow> {
  const pending = await client.requests();
  if (request === undefined || pending.some(({ request_id }) => request_id.startsWith(request))) {
    return pickRequest(pending, request);
  }
  return pickRequest(await client.requests({ include_orphaned: true, include_settled: true }), request);
}

/** Nobody drives a detached session, so its answer may come from here; from somebody who does it is taken on demand. */
async function respond(
  client: Client,
  { session_id, request_id }: RequestRow,
  answer: Answer,
  how: { shown_hash: string; source: "tui" | "api" },
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

function outcome({ request, repeated }: Responded): string {
  const { answer, resolution_source, dispatched_at_ms } = request;
  const said = answer !== undefined && "decision" in answer ? VERB_OF[answer.decision] : "answer";
  if (repeated) return `answered before: ${said} (${resolution_source ?? "?"})`;
  return dispatched_at_ms === undefined
    ? `${said}: stored; the agent has not taken it yet`
    : `${said}: the agent has it`;
}

/** Another answer was there first: ours did nothing. */
function isAsSaid({ request, repeated }: Responded, answer: Answer): boolean {
  if (!repeated || request.answer === undefined) return true;
  return "decision" in answer && "decision" in request.answer
    ? answer.decision === request.answer.decision
    : "answers" in answer && "answers" in request.answer;
}

function settledLines(rows: readonly RequestRow[], columns: number, nowMs: number): string[] {
  const cells = rows.map((row) => [
    row.request_id,
    row.session_id,
    row.status,
    `${duration(Math.max(0, nowMs - row.requested_at_ms))} ago`,
    row.payload.title,
  ]);
  return table([["REQUEST", "SESSION", "STATUS", "ASKED", "TITLE"], ...cells], columns);
}
