// `requests`, and the commands that answer: approve, decline, answer.
import { CodedError } from "../../base/coded-error.ts";
import { revealLine } from "../../base/sanitize.ts";
import type { Answer, HttpClient, RequestRow, SessionView } from "../../client/index.ts";
import { summarizeRequest } from "../../client/view/request-what.ts";
import { REQUEST_ID, type RequestArguments, toAnswers, toDecision, toRefusal } from "../answers.ts";
import { truncate } from "../bar.ts";
import { type Arguments, defineFlag, type Flag, readTextFlag, UsageError } from "../command.ts";
import { ANY } from "../program.ts";
import { makeHint } from "../request-text.ts";
import {
  answerRequest,
  INPUT,
  listRequests,
  type RequestPort,
  readPipedAnswers,
  SETTLED,
  SHOWN,
  showRequest,
} from "../requests.ts";
import { answerMany } from "./answer-many.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { findSession } from "./find.ts";
import { hasSelection, requireOneWay, SELECTING, SELECTING_NOTES, splitNames, splitWords } from "./select.ts";

const MAX_WHAT = 60;
const YES: Flag = defineFlag("-y, --yes", "do not ask for confirmation");
const SAME: Flag = defineFlag("--same", "and all requests of other sessions for exactly the same");
const MANY_NOTES = [
  ...SELECTING_NOTES,
  "Requests for exactly the same are one card, which is shown and confirmed once.",
];

export const REQUESTS: BlemeesCommand = {
  name: "requests",
  usage: "requests [ID|REQUEST]",
  summary:
    "list what waits for an answer, oldest first; with a session, show its requests and those of its descendants; with a request, show it with its details",
  words: [0, 1],
  completes: "session",
  flags: [
    defineFlag("--all", "include settled requests"),
    defineFlag("--ids", "print only the ids, one per line"),
  ],
  examples: ["requests", "requests manager", "requests req_5a01f0d8"],
  async run({ words: [id], flags }, context) {
    const http = await context.connect();
    const port = createPort(http);
    if (id !== undefined && REQUEST_ID.test(id)) return showRequest(port, context, id);
    const settled = flags["all"] ? SETTLED : {};
    const of = id === undefined ? {} : { session_id: (await findSession(http, id)).session_id, tree: true };
    return listRequests(
      port,
      context,
      { ...of, ...settled },
      { isIdsOnly: flags["ids"] === true, isBrief: id === undefined, isGrouped: true },
    );
  },
};

export const APPROVE: BlemeesCommand = {
  name: "approve",
  aliases: ["accept"],
  usage: "approve REQUEST|ID…",
  summary: "approve requests, by their ids or as the only one of a session",
  words: [0, ANY],
  completes: "request",
  flags: [
    defineFlag("--session", "and do not ask again until the agent ends"),
    defineFlag("--always", "and never ask again; the request lists what is written to disk"),
    defineFlag(
      "--option NAME",
      "with --session or --always, or for a budget: one of the options that the request lists",
    ),
    INPUT,
    SHOWN,
    SAME,
    YES,
    ...SELECTING,
  ],
  examples: ["approve req_5a01f0d8", "approve fixer", "approve --children-of manager"],
  notes: MANY_NOTES,
  run: (given, context) => {
    const { flags } = given;
    if (flags["session"] && flags["always"]) throw new UsageError("use --session or --always, not both");
    const decision = flags["always"] ? "acceptAlways" : flags["session"] ? "acceptForSession" : "accept";
    return answerWith(given, context, "approve", (split, row) => {
      if (row.payload.questions !== undefined)
        throw new UsageError(`this request asks a question. ${makeHint(row, context.words)}`);
      if (flags["option"] !== undefined && decision === "accept" && row.request_type !== "budget")
        throw new UsageError("--option needs --session or --always");
      return toDecision(decision, split, {
        option: readTextFlag(given, "option"),
        input: readTextFlag(given, "input"),
      });
    });
  },
};

export const DECLINE: BlemeesCommand = {
  name: "decline",
  aliases: ["deny"],
  usage: "decline REQUEST|ID [message…]",
  summary: "decline requests, by their ids or as the only one of a session; the agent gets the message",
  words: [0, ANY],
  completes: "request",
  flags: [
    defineFlag("--cancel", "and stop the turn; for a budget, stop its sessions"),
    SHOWN,
    SAME,
    YES,
    ...SELECTING,
  ],
  examples: [
    "decline req_5a01f0d8 use git mv instead",
    "decline fixer,docs",
    "decline --label nightly not now",
  ],
  notes: [...MANY_NOTES, "With flags all words are the message; several names are separated by commas."],
  run: (given, context) =>
    answerWith(given, context, "decline", (split) =>
      toRefusal(given.flags["cancel"] ? "cancel" : "decline", split),
    ),
};

export const ANSWER: BlemeesCommand = {
  name: "answer",
  usage: "answer REQUEST|ID QUESTION=TEXT…",
  summary:
    "answer questions by number, header or id; repeat a question to give several answers; 1=- reads stdin",
  words: [2, ANY],
  completes: "request",
  flags: [SHOWN, YES],
  examples: ['answer req_5a01f0d8 1=Red 2="dark blue"'],
  run: (given, context) => answerWith(given, context, "answer", toAnswers),
};

async function answerWith(
  given: Arguments,
  context: BlemeesContext,
  verb: string,
  toAnswer: (given: RequestArguments, row: RequestRow) => Answer,
): Promise<number> {
  const { ids, rest } = verb === "approve" ? { ids: given.words, rest: [] } : splitWords(given);
  const words = await readPipedAnswers(rest, context);
  const isConfirmed = given.flags["yes"] === true;
  const shown = readTextFlag(given, "shown");
  const isRefusal = verb === "decline";
  const names = ids.flatMap(splitNames);
  const [name, ...more] = names;
  if (more.length > 0 || hasSelection(given) || given.flags["same"] === true) {
    const odd = ["shown", "input"].find((flag) => given.flags[flag] !== undefined);
    if (odd !== undefined || verb === "answer")
      throw new UsageError(`${odd === undefined ? verb : `--${odd}`} takes a single request`);
    requireOneWay(given, names);
    const http = await context.connect();
    const text = { text: words.join(" "), words };
    return answerMany(http, createPort(http), context, { verb, given, names, text, isRefusal, toAnswer });
  }
  if (name === undefined)
    throw new UsageError("name a request or a session, or choose with --label, --failed or --children-of");
  const http = await context.connect();
  const port = createPort(http);
  const isLooked = isRefusal || isConfirmed || shown !== undefined || context.confirm !== undefined;
  const request = REQUEST_ID.test(name)
    ? name
    : await findOnlyRequest(http, context, { name, verb, isLooked, hasWords: words.length > 0 });
  return answerRequest(port, context, {
    verb,
    given: { request, text: words.join(" "), words },
    shown,
    isConfirmed,
    isRefusal,
    toAnswer,
  });
}

interface NameOrder {
  name: string;
  verb: string;
  /** The user sees the request before it is answered, or does not want to. */
  isLooked: boolean;
  hasWords: boolean;
}

/** The id of the session's only pending request. Throws with the commands to use if there is none, or more than one. */
async function findOnlyRequest(
  http: HttpClient,
  { words: { program } }: BlemeesContext,
  { name, verb, isLooked, hasWords }: NameOrder,
): Promise<string> {
  const session = await findAsker(http, name, program);
  const requests = await http.allRequests({ session_id: session.session_id });
  const [only, ...others] = requests;
  const called = JSON.stringify(name);
  const more = hasWords ? " …" : "";
  if (only === undefined) {
    const below = session.family_pending_requests;
    const hint = below === 0 ? "" : `, but ${below} below it; \`${program} requests ${name}\` lists them`;
    throw new UsageError(`session ${called} has no pending request${hint}`);
  }
  if (others.length > 0) {
    const lines = requests.map(
      (row) =>
        `  ${program} ${verb} ${row.request_id}${more}  # ${truncate(revealLine(summarizeRequest(row, session.cwd)), MAX_WHAT)}`,
    );
    throw new UsageError(
      `session ${called} has ${requests.length} pending requests; name one:\n${lines.join("\n")}`,
    );
  }
  if (isLooked) return only.request_id;
  throw new UsageError(
    `without a terminal, a request is named: ${program} ${verb} ${only.request_id}${more} --shown ${only.shown_hash} (${truncate(revealLine(summarizeRequest(only, session.cwd)), MAX_WHAT)}), or add --yes to take whatever session ${called} asks for`,
  );
}

async function findAsker(http: HttpClient, name: string, program: string): Promise<SessionView> {
  try {
    return await findSession(http, name);
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "session_unknown") throw error;
    throw new UsageError(
      `${JSON.stringify(name)} is neither a request id (req_…) nor a session; \`${program} requests\` lists them`,
    );
  }
}

function createPort(http: HttpClient): RequestPort {
  return {
    list: (filter) => http.inbox(filter),
    get: async (request_id, session_id) =>
      session_id === undefined ? undefined : http.request(session_id, request_id),
    respond: ({ session_id, request_id }, answer, shown_hash) =>
      http.respond(session_id, request_id, answer, { shown_hash, source: "sm" }),
    findSession: (session_id) => http.session(session_id).catch(() => undefined),
  };
}
