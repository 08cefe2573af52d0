// `sm send`: queues a message for a session; it is delivered when the agent is idle.

import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import type { HttpClient, InputBody, InputReply, SessionView } from "../../client/index.ts";
import { defineFlag, readNumberFlag, UsageError } from "../command.ts";
import { show } from "../output.ts";
import { ANY } from "../program.ts";
import type { BlemeesCommand } from "./command.ts";
import { runOnEach } from "./each.ts";
import { printAnswer, refuseOwnTurn } from "./message-wait.ts";
import { EXIT_NOTES } from "./outcome.ts";
import { FILE, readPrompt } from "./prompt-text.ts";
import { SELECTING, SELECTING_NOTES, selectSessions, splitWords } from "./select.ts";

export const SEND: BlemeesCommand = {
  name: "send",
  usage: "send ID text…",
  summary: "send a message; it is queued until the agent is idle",
  words: [0, ANY],
  completes: "session",
  flags: [
    FILE,
    defineFlag("--now", "interrupt the running turn and skip the queue"),
    defineFlag("--steer", "add it to the running turn, if the agent takes messages during turns"),
    defineFlag("-w, --wait", "wait until its turn ends, and print the answer"),
    defineFlag("-t, --timeout S", "with --wait: give up after S seconds"),
    ...SELECTING,
  ],
  examples: [
    'send fixer "and run the linter too"',
    "send fixer --now --wait stop that, use git mv",
    'send fixer --steer "leave the tests as they are"',
    'send --children-of manager "commit what you have"',
  ],
  notes: [
    "Put -- before text that starts with a dash.",
    ...SELECTING_NOTES,
    "With flags all words are text; several names are separated by commas.",
    "Exit status with --wait, which takes a single session:",
    ...EXIT_NOTES,
  ],
  async run(given, context) {
    const { ids, rest } = splitWords(given);
    const text = await readPrompt(rest, given, context);
    if (text === undefined)
      throw new UsageError("nothing to send: use sm send ID text…, --file FILE, or pipe it in");
    const timeout = readNumberFlag(given, "timeout");
    const http = await context.connect();
    const { sessions, only: session } = await selectSessions(http, given, ids, context);
    if (given.flags["now"] && given.flags["steer"])
      throw new UsageError("--now interrupts the turn that --steer adds to; use one of them");
    const delivery = given.flags["steer"] ? ({ delivery: "steer" } as const) : {};
    const body = { text, ...(given.flags["now"] ? { now: true } : {}), ...delivery };
    if (session === undefined) {
      if (given.flags["wait"])
        throw new UsageError(
          "--wait takes a single session; send, then use sm wait with the same names or flags",
        );
      const act = (view: SessionView): Promise<InputReply> => input(http, view, body);
      return runOnEach(context, sessions, { act, describe: placeText });
    }
    if (given.flags["wait"]) refuseOwnTurn(session, context.self, "send without --wait");
    const reply = await input(http, session, body);
    const { message_id } = reply.input;
    if (given.flags["wait"]) {
      const sent = { session, message_id, since_seq: session.last_seq, reply };
      return printAnswer(http, context, sent, timeout === undefined ? undefined : timeout * 1000);
    }
    return show(context, reply, () => [placeText(reply)]);
  },
};

function placeText({ input: { message_id, state, for_turn }, position, note }: InputReply): string {
  if (note !== undefined) return `${message_id}: ${note}`;
  if (for_turn !== undefined) return `${message_id}: for the running turn`;
  if (state !== "queued") return `${message_id}: ${state}`;
  return position === 0 ? `${message_id}: next` : `${message_id}: queued, ${position} ahead`;
}

/** Adds how to answer the pending request that blocks the message. */
async function input(http: HttpClient, session: SessionView, body: InputBody): Promise<InputReply> {
  try {
    return await http.input(session.session_id, body);
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "pending_structured_request") throw error;
    const request_id = sanitizeLine(String(error.data?.["request_id"] ?? ""));
    const hint = request_id === "" ? `sm requests ${session.session_id}` : `sm requests ${request_id}`;
    throw new CodedError(error.code, `${error.message} (show it with: ${hint})`, {
      cause: error,
      ...defined({ data: error.data }),
    });
  }
}
