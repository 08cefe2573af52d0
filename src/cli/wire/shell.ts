// Runs a verb from the shell: the result goes to stdout; `--json` prints frames instead.
import { CodedError } from "../../base/coded-error.ts";
import {
  type Client,
  connect,
  dial,
  findSocket,
  type RequestFrame,
  type WireFrame,
} from "../../client/index.ts";
import { show } from "../output.ts";
import { claim } from "./claim.ts";
import { reconnectOptions, type ShellContext } from "./context.ts";
import type { Parsed } from "./parse.ts";
import { formatInfo, formatSessions, formatStatus } from "./reply.ts";
import { runAnswer, runRequests } from "./requests.ts";
import { runTurn, streamTurn, watchSession } from "./stream.ts";
import type { VerbArguments, VerbFrame } from "./verb.ts";

type Request<T extends RequestFrame["type"]> = Extract<RequestFrame, { type: T }>;

/** Returns the exit code. `frame`: what the verb's row made of the arguments. */
type Action = (
  client: Client,
  context: ShellContext,
  given: VerbArguments,
  frame: VerbFrame,
) => Promise<number>;

export async function runShell({ verb, given }: Parsed, context: ShellContext): Promise<number> {
  const frame = verb.frame?.(given) ?? { type: "" };
  if (verb.name === "raw") return exchange(context, frame);
  const { answer } = verb;
  const action =
    answer === undefined
      ? ACTIONS[verb.name]
      : (client: Client) => runAnswer(client, context, given, { ...verb, answer });
  if (action === undefined) throw new CodedError("internal", `${verb.name} has no shell action`);
  const client = await connect({
    ...context.daemon,
    reconnect: false,
    ...(LASTING.has(verb.name) && reconnectOptions(context)),
  });
  try {
    return await action(client, context, given, frame);
  } finally {
    await client.close();
  }
}

const LASTING = new Set(["run", "send", "send-json", "watch"]);

const ACTIONS: Record<string, Action> = {
  run: runTurn,
  watch: watchSession,

  ping: async (client, context) => {
    const startedMs = performance.now();
    const pong = await client.request({ type: "blemeesd.ping" });
    const tookMs = (performance.now() - startedMs).toFixed(1);
    return show(context, pong, () => [`pong in ${tookMs} ms`]);
  },

  status: async (client, context) => {
    const status = await client.status();
    return show(context, status, () => formatStatus(status, context.output.columns));
  },

  sessions: async (client, context, { flags }, frame) => {
    const reply = await client.request(frame as Request<"blemeesd.list_sessions">);
    return show(context, reply, () => {
      if (flags["ids"]) return reply.sessions.map((session) => session.session_id);
      if (reply.sessions.length > 0)
        return formatSessions(reply.sessions, context.output.columns, Date.now());
      context.output.note("No sessions");
      return [];
    });
  },

  "session-info": async (client, context, { words }) => {
    const info = await client.sessionInfo(words[0] ?? "");
    return show(context, info, () => formatInfo(info, context.output.columns));
  },

  requests: runRequests,

  open: openSession,
  resume: openSession,

  close: async (client, context, { words, flags }) => {
    const session = await claim(client, words[0] ?? "", flags["take"] === true);
    await session.close({ delete: flags["delete"] === true });
    return show(context, { type: "blemeesd.closed", session_id: session.session_id }, () => ["closed"]);
  },

  interrupt: async (client, context, { words, flags }) => {
    const session = await claim(client, words[0] ?? "", flags["take"] === true);
    const reply = await session.interrupt();
    return show(context, reply, () => [reply.was_idle ? "no turn is running" : "interrupted"]);
  },

  send: sendMessage,
  "send-json": sendMessage,
};

async function openSession(
  client: Client,
  context: ShellContext,
  _given: VerbArguments,
  frame: VerbFrame,
): Promise<number> {
  const opened = await client.request(frame as unknown as Request<"blemeesd.open">);
  return show(context, opened, () => [opened.session_id]);
}

async function sendMessage(
  client: Client,
  context: ShellContext,
  given: VerbArguments,
  frame: VerbFrame,
): Promise<number> {
  const session = await claim(client, given.words[0] ?? "", given.flags["take"] === true);
  return streamTurn(session, frame["message"] as { role: "user"; content: string }, context);
}

/** Sends a raw frame and prints replies up to the answer: the frame with its id, or else the first. */
async function exchange(context: ShellContext, frame: VerbFrame): Promise<number> {
  const { socket, client } = context.daemon;
  const replies: WireFrame[] = [];
  let isAnswered: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    isAnswered = resolve;
  });
  const connection = await dial(
    { path: findSocket(socket), client },
    {
      frame: (reply) => {
        if (reply.type === "blemeesd.hello_ack") return;
        replies.push(reply);
        if (frame["id"] === undefined || reply.id === frame["id"]) isAnswered();
      },
      closed: () => isAnswered(), // the daemon may close the connection; its error is printed anyway
    },
  );
  await connection.write(frame);
  await answered;
  await connection.close();
  for (const reply of replies) await context.output.json(reply);
  return replies.some((reply) => reply.type === "blemeesd.error") ? 1 : 0;
}
