// `sm send`: a message into a session's queue; it is delivered when the agent is free.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { HttpClient, InputBody, InputReply, SessionView } from "../../client/index.ts";
import { UsageError } from "../command.ts";
import { ANY, type Command, numberFlag, show } from "./command.ts";
import { findSession } from "./find.ts";
import { checkNotOwnTurn, printAnswer } from "./message-wait.ts";
import { EXIT_NOTES } from "./outcome.ts";
import { FILE, promptText } from "./prompt-text.ts";

export const SEND: Command = {
  name: "send",
  usage: "send ID text…",
  summary: "send a message; it waits in the session's queue until the agent is free",
  words: [1, ANY],
  completes: "session",
  flags: [
    FILE,
    { name: "now", summary: "interrupt what runs and go in front of the queue" },
    { name: "wait", short: "w", summary: "wait until its turn has ended and print the answer" },
    { name: "timeout", short: "t", value: "S", summary: "wait so many seconds at most" },
  ],
  examples: ['send fixer "and run the linter too"', "send fixer --now --wait stop that, use git mv"],
  notes: ["Put -- before a text that begins with a dash. With --wait:", ...EXIT_NOTES],
  async run(given, context) {
    const [id = "", ...words] = given.words;
    const text = await promptText(words, given, context);
    if (text === undefined)
      throw new UsageError("say what to send: sm send ID text…, --file FILE, or pipe it in");
    const timeout = numberFlag(given, "timeout");
    const http = await context.connect();
    const session = await findSession(http, id);
    if (given.flags["wait"]) checkNotOwnTurn(session, context.self, "send without --wait");
    const body = { text, ...(given.flags["now"] ? { now: true } : {}) };
    const reply = await input(http, session, body);
    const { message_id } = reply.input;
    if (given.flags["wait"]) {
      const sent = { session, message_id, since_seq: session.last_seq, reply };
      return printAnswer(http, context, sent, timeout === undefined ? undefined : timeout * 1000);
    }
    return show(context, reply, () => [placeText(reply)]);
  },
};

function placeText({ input: { message_id, state }, position }: InputReply): string {
  if (state !== "queued") return `${message_id}: ${state}`;
  return position === 0 ? `${message_id}: next` : `${message_id}: queued behind ${position}`;
}

/** While the agent asks something nothing is taken; says what it asks and how to answer. */
async function input(http: HttpClient, session: SessionView, body: InputBody): Promise<InputReply> {
  try {
    return await http.input(session.session_id, body);
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "pending_structured_request") throw error;
    const request_id = sanitizeLine(String(error.data?.["request_id"] ?? ""));
    const hint = request_id === "" ? `sm requests ${session.session_id}` : `sm requests ${request_id}`;
    throw new CodedError(error.code, `${error.message} (see it with: ${hint})`, {
      cause: error,
      ...(error.data === undefined ? {} : { data: error.data }),
    });
  }
}
