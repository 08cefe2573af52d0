// `sm requests` and the commands that answer: approve, decline, answer. Whoever answers at a terminal sees the whole
// request first and says yes; elsewhere the request must be named, and only what was read is answered.
import { CodedError } from "../../base/coded-error.ts";
import type { Answer, HttpClient, RequestRow } from "../../client/index.ts";
import {
  answersOf,
  decisionOf,
  type Given,
  isNamed,
  isSameAnswer,
  pickRequest,
  REQUEST_ID,
  refusalOf,
  SHORTEST_NAME,
} from "../answers.ts";
import { type Arguments, type Flag, UsageError } from "../command.ts";
import { answerText, outcome, settledLines } from "../request-outcome.ts";
import { requestLines, requireOffered } from "../request-text.ts";
import { ANY, type Command, type Context, show, textFlag } from "./command.ts";
import { findSession } from "./find.ts";
import { hintFor, SM_WORDS } from "./request-words.ts";

const SHOWN: Flag = {
  name: "shown",
  value: "HASH",
  summary: "only if the request still has this shown_hash",
};
const YES: Flag = { name: "yes", short: "y", summary: "do not ask for confirmation" };

export const REQUESTS: Command = {
  name: "requests",
  usage: "requests [ID|REQUEST]",
  summary: "pending requests: all, of a session and those below it, or one with its details",
  words: [0, 1],
  completes: "session",
  flags: [
    { name: "all", summary: "also those that are over" },
    { name: "ids", summary: "only the ids, one a line" },
  ],
  examples: ["requests", "requests manager", "requests req_5a01f0d8"],
  async run({ words, flags }, context) {
    const http = await context.connect();
    const [id] = words;
    if (id !== undefined && REQUEST_ID.test(id)) {
      const row = await findRequest(http, id);
      return showOne(context, row, await sessionName(http, row));
    }
    const over = flags["all"] ? { include_settled: true, include_orphaned: true } : {};
    const of = id === undefined ? {} : { session_id: (await findSession(http, id)).session_id, tree: true };
    const listed = await http.allRequests({ ...of, ...over });
    if (flags["ids"]) return show(context, { requests: listed }, () => listed.map((row) => row.request_id));
    const requests = await Promise.all(listed.map((row) => whole(http, row)));
    const pending = requests.filter(({ status }) => status === "pending");
    const settled = requests.filter(({ status }) => status !== "pending");
    const { output, isJson } = context;
    if (pending.length === 0 && !isJson) output.note("No pending requests");
    const sessions = pending.length === 0 || isJson ? [] : await http.sessions();
    const names = new Map(sessions.map(({ session_id, name }) => [session_id, name]));
    return show(context, { requests }, () => [
      ...(settled.length === 0 ? [] : settledLines(settled, output.columns, Date.now())),
      ...pending.flatMap((row) =>
        requestLines(row, hintFor(row), output.columns, { words: SM_WORDS, name: names.get(row.session_id) }),
      ),
    ]);
  },
};

export const APPROVE: Command = {
  name: "approve",
  aliases: ["accept"],
  usage: "approve REQUEST",
  summary: "let the agent do what it asks for",
  words: [1, 1],
  completes: "request",
  flags: [
    { name: "session", summary: "and do not ask again until the agent ends" },
    { name: "always", summary: "and never ask again; the request says what is written to disk" },
    {
      name: "option",
      value: "NAME",
      summary: "with --session or --always: one of the options that the request lists",
    },
    { name: "input", value: "JSON", summary: "run the tool with this input instead" },
    SHOWN,
    YES,
  ],
  examples: ["approve req_5a01f0d8"],
  run: (given, context) => {
    const { flags } = given;
    if (flags["session"] && flags["always"]) throw new UsageError("--session or --always, not both");
    if (flags["option"] !== undefined && !flags["session"] && !flags["always"])
      throw new UsageError("--option needs --session or --always");
    const decision = flags["always"] ? "acceptAlways" : flags["session"] ? "acceptForSession" : "accept";
    return answerWith(given, context, (split, row) => {
      if (row.payload.questions !== undefined)
        throw new UsageError(`this request asks a question. ${hintFor(row)}`);
      return decisionOf(decision, split, {
        option: textFlag(given, "option"),
        input: textFlag(given, "input"),
      });
    });
  },
};

export const DECLINE: Command = {
  name: "decline",
  aliases: ["deny"],
  usage: "decline REQUEST [message…]",
  summary: "refuse what the agent asks for; the message is passed on to it",
  words: [1, ANY],
  completes: "request",
  flags: [{ name: "cancel", summary: "and stop the turn" }, SHOWN, YES],
  examples: ["decline req_5a01f0d8 use git mv instead"],
  run: (given, context) =>
    answerWith(given, context, (split) => refusalOf(given.flags["cancel"] ? "cancel" : "decline", split)),
};

export const ANSWER: Command = {
  name: "answer",
  usage: "answer REQUEST QUESTION=TEXT…",
  summary: "answer questions by number, header or id; twice for two answers, 1=- takes stdin (secrets)",
  words: [2, ANY],
  completes: "request",
  flags: [SHOWN, YES],
  examples: ['answer req_5a01f0d8 1=Red 2="dark blue"'],
  run: (given, context) => answerWith(given, context, answersOf),
};

async function answerWith(
  given: Arguments,
  context: Context,
  answerFor: (split: Given, row: RequestRow) => Answer,
): Promise<number> {
  const [request = "", ...said] = given.words;
  if (!REQUEST_ID.test(request))
    throw new UsageError(`"${request}" is not a request id (req_…); \`sm requests\` lists them`);
  const words = await filled(said, context);
  const http = await context.connect();
  const row = await findRequest(http, request);
  if (row.session_id === context.self)
    throw new CodedError(
      "not_allowed",
      "an agent does not answer its own request; a person or its parent does",
    );
  const split: Given = { request, text: words.join(" "), words };
  const answer = answerFor(split, row);
  requireOffered(row, answer, SM_WORDS);
  const name = context.isJson ? undefined : await sessionName(http, row);
  if (!(await isMeant(given, context, { split, row, answer, name }))) return 1;
  const responded = await http.respond(row.session_id, row.request_id, answer, {
    shown_hash: textFlag(given, "shown") ?? row.shown_hash,
    source: "sm",
  });
  await show(context, responded, () => outcome(responded, SM_WORDS));
  // Another answer was there first: ours did nothing.
  const counts = responded.request.answer;
  return !responded.repeated || counts === undefined || isSameAnswer(answer, counts, row) ? 0 : 1;
}

async function isMeant(
  given: Arguments,
  { output, confirm, isJson }: Context,
  { split, row, answer, name }: { split: Given; row: RequestRow; answer: Answer; name: string | undefined },
): Promise<boolean> {
  const isRefusal = "decision" in answer && (answer.decision === "decline" || answer.decision === "cancel");
  const lines = (hint: string, taken?: { answer: Answer }): string =>
    requestLines(row, hint, output.talkColumns, { words: SM_WORDS, name, ...taken }).join("\n");
  const said = `Your answer: ${answerText(answer, SM_WORDS)}`;
  if (confirm === undefined || given.flags["yes"]) {
    if (!isRefusal && given.flags["shown"] === undefined && !isNamed(split, row)) {
      output.ask(lines(hintFor(row)));
      throw new UsageError(`say at least ${SHORTEST_NAME} characters of the request's id: ${row.request_id}`);
    }
    if (!isJson) output.ask(lines(said, { answer }));
    return true;
  }
  output.ask(lines(said, { answer }));
  if (row.status !== "pending" || (await confirm("Send it?"))) return true;
  output.note("Not answered");
  return false;
}

/** `2=-`: the text comes from stdin, so that no list of processes and no history of the shell has it. */
async function filled(words: readonly string[], { readInput }: Context): Promise<readonly string[]> {
  if (!words.some((word) => word.endsWith("=-"))) return words;
  const text = (await readInput())?.replace(/\n$/, "");
  if (text === undefined) throw new UsageError("=- takes the text from stdin: pipe it in");
  return words.map((word) => (word.endsWith("=-") ? `${word.slice(0, -1)}${JSON.stringify(text)}` : word));
}

/** Whole. One that does not wait any more is found too: the daemon says what became of it. */
async function findRequest(http: HttpClient, request: string): Promise<RequestRow> {
  const begins = ({ request_id }: RequestRow): boolean => request_id.startsWith(request);
  const pending = (await http.allRequests()).filter(begins);
  if (pending.length > 0) return whole(http, pickRequest(pending, request));
  const all = await http.allRequests({ include_settled: true, include_orphaned: true });
  const over = all.filter(begins);
  if (over.length === 0)
    throw new CodedError("request_unknown", `there is no request ${request}; \`sm requests\` lists them`);
  return whole(http, pickRequest(over, request));
}

function whole(http: HttpClient, row: RequestRow): Promise<RequestRow> {
  return row.is_cut ? http.request(row.session_id, row.request_id) : Promise.resolve(row);
}

/** Undefined: it has none, or its session is gone. */
async function sessionName(http: HttpClient, { session_id }: RequestRow): Promise<string | undefined> {
  return (await http.session(session_id).catch(() => undefined))?.name;
}

function showOne(context: Context, row: RequestRow, name: string | undefined): Promise<number> {
  return show(context, row, () => {
    const said = row.answer === undefined ? "" : `: ${answerText(row.answer, SM_WORDS)}`;
    const hint = row.status === "pending" ? hintFor(row) : `${row.status}${said}`;
    return requestLines(row, hint, context.output.columns, { words: SM_WORDS, name, hasDetails: true });
  });
}
