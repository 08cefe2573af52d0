// `requests`, and the commands that answer: approve, decline, answer.
import type { Answer, HttpClient, RequestRow } from "../../client/index.ts";
import { REQUEST_ID, type RequestArguments, toAnswers, toDecision, toRefusal } from "../answers.ts";
import { type Arguments, defineFlag, type Flag, readTextFlag, UsageError } from "../command.ts";
import { ANY } from "../program.ts";
import { makeHint } from "../request-text.ts";
import {
  answerRequest,
  INPUT,
  listRequests,
  type RequestPort,
  readPipedAnswers,
  requireRequestId,
  SETTLED,
  SHOWN,
  showRequest,
} from "../requests.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { findSession } from "./find.ts";

const YES: Flag = defineFlag("-y, --yes", "do not ask for confirmation");

/** Above this, one list of all sessions takes less than asking for each. */
const MAX_ASKED = 50;

export const REQUESTS: BlemeesCommand = {
  name: "requests",
  usage: "requests [ID|REQUEST]",
  summary: "list pending requests: all, of a session and its descendants, or one with its details",
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
    return listRequests(port, context, { ...of, ...settled }, { isIdsOnly: flags["ids"] === true });
  },
};

export const APPROVE: BlemeesCommand = {
  name: "approve",
  aliases: ["accept"],
  usage: "approve REQUEST",
  summary: "approve a request",
  words: [1, 1],
  completes: "request",
  flags: [
    defineFlag("--session", "and do not ask again until the agent ends"),
    defineFlag("--always", "and never ask again; the request lists what is written to disk"),
    defineFlag("--option NAME", "with --session or --always: one of the options that the request lists"),
    INPUT,
    SHOWN,
    YES,
  ],
  examples: ["approve req_5a01f0d8"],
  run: (given, context) => {
    const { flags } = given;
    if (flags["session"] && flags["always"]) throw new UsageError("use --session or --always, not both");
    if (flags["option"] !== undefined && !flags["session"] && !flags["always"])
      throw new UsageError("--option needs --session or --always");
    const decision = flags["always"] ? "acceptAlways" : flags["session"] ? "acceptForSession" : "accept";
    return answerWith(given, context, "approve", (split, row) => {
      if (row.payload.questions !== undefined)
        throw new UsageError(`this request asks a question. ${makeHint(row, context.words)}`);
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
  usage: "decline REQUEST [message…]",
  summary: "decline a request; the agent gets the message",
  words: [1, ANY],
  completes: "request",
  flags: [defineFlag("--cancel", "and stop the turn"), SHOWN, YES],
  examples: ["decline req_5a01f0d8 use git mv instead"],
  run: (given, context) =>
    answerWith(given, context, "decline", (split) =>
      toRefusal(given.flags["cancel"] ? "cancel" : "decline", split),
    ),
};

export const ANSWER: BlemeesCommand = {
  name: "answer",
  usage: "answer REQUEST QUESTION=TEXT…",
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
  const [request = "", ...rest] = given.words;
  requireRequestId(request, context.words);
  const words = await readPipedAnswers(rest, context);
  return answerRequest(createPort(await context.connect()), context, {
    verb,
    given: { request, text: words.join(" "), words },
    shown: readTextFlag(given, "shown"),
    isConfirmed: given.flags["yes"] === true,
    isRefusal: verb === "decline",
    toAnswer,
  });
}

function createPort(http: HttpClient): RequestPort {
  return {
    list: (filter) => http.allRequests(filter),
    get: async (request_id, session_id) =>
      session_id === undefined ? undefined : http.request(session_id, request_id),
    respond: ({ session_id, request_id }, answer, shown_hash) =>
      http.respond(session_id, request_id, answer, { shown_hash, source: "sm" }),
    async nameSessions(rows) {
      const ids = [...new Set(rows.map(({ session_id }) => session_id))];
      const views =
        ids.length > MAX_ASKED
          ? await http.sessions()
          : await Promise.all(ids.map((id) => http.session(id).catch(() => undefined)));
      return new Map(views.flatMap((view) => (view === undefined ? [] : [[view.session_id, view.name]])));
    },
  };
}
