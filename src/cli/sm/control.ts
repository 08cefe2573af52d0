// The commands that steer a session: interrupt, stop, rm, name, queue.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { HttpClient, InputRecord, QueuedMessage, QueueReply } from "../../client/index.ts";
import { cutTo } from "../bar.ts";
import { type Flag, UsageError } from "../command.ts";
import { duration } from "../duration.ts";
import { table } from "../output.ts";
import { ANY, type Command, show, textFlag } from "./command.ts";
import { CAREFUL, findSession, titleOf } from "./find.ts";
import { textOf } from "./outcome.ts";

const TREE: Flag = { name: "tree", summary: "also all sessions below it" };

export const INTERRUPT: Command = {
  name: "interrupt",
  usage: "interrupt ID",
  summary: "end the running turn; the agent stays",
  words: [1, 1],
  completes: "session",
  examples: ["interrupt fixer"],
  async run({ words }, context) {
    const http = await context.connect();
    const { session_id } = await findSession(http, words[0] ?? "");
    const reply = await http.interrupt(session_id);
    return show(context, reply, () => [reply.was_idle ? "nothing was running" : "interrupted"]);
  },
};

export const STOP: Command = {
  name: "stop",
  usage: "stop ID",
  summary: "end the agent; history and queue stay, and `sm send` starts it again",
  words: [1, 1],
  completes: "session",
  flags: [TREE],
  examples: ["stop manager --tree"],
  async run({ words, flags }, context) {
    const http = await context.connect();
    const { session_id } = await findSession(http, words[0] ?? "", CAREFUL);
    const stopped = await http.stop(session_id, { tree: flags["tree"] === true });
    if (stopped.length === 0 && !context.isJson) context.output.note("nothing was running");
    return show(context, { stopped }, () => stopped.map((id) => `stopped ${id}`));
  },
};

export const RM: Command = {
  name: "rm",
  usage: "rm ID",
  summary: "end and forget a session for good: history, queue, requests",
  words: [1, 1],
  completes: "session",
  flags: [TREE, { name: "yes", short: "y", summary: "do not ask for confirmation" }],
  examples: ["rm fixer --yes"],
  async run({ words, flags }, context) {
    const http = await context.connect();
    const session = await findSession(http, words[0] ?? "", CAREFUL);
    const tree = flags["tree"] === true;
    if (!flags["yes"]) {
      const below = tree && session.children.length > 0 ? " and all below it" : "";
      if (context.confirm === undefined)
        throw new UsageError(`rm forgets ${titleOf(session)}${below} for good: add --yes`);
      if (!(await context.confirm(`forget ${titleOf(session)}${below} for good?`))) return 1;
    }
    const deleted = await http.remove(session.session_id, { tree });
    return show(context, { deleted }, () => deleted.map((id) => `removed ${id}`));
  },
};

export const NAME: Command = {
  name: "name",
  usage: "name ID [NAME…]",
  summary: "call a session something; without a name, take its name away",
  words: [1, ANY],
  completes: "session",
  examples: ["name 5a01f0d8 fixer"],
  async run({ words }, context) {
    const http = await context.connect();
    const { session_id } = await findSession(http, words[0] ?? "");
    const name = words.slice(1).join(" ").trim();
    const session = await http.rename(session_id, name === "" ? null : name);
    return show(context, session, () => [titleOf(session)]);
  },
};

export const QUEUE: Command = {
  name: "queue",
  usage: "queue ID",
  summary: "what waits to be delivered, and what became of the last messages",
  words: [1, 1],
  completes: "session",
  flags: [
    { name: "cancel", value: "MESSAGE", completes: "message", summary: "take a message out of the queue" },
    { name: "clear", summary: "take all that waits out of the queue" },
    { name: "ids", summary: "only the ids of what waits, one a line" },
  ],
  examples: ["queue fixer", "queue fixer --cancel msg_5a01f0d8", "queue fixer --clear"],
  async run(given, context) {
    const message_id = textFlag(given, "cancel");
    if (message_id !== undefined && given.flags["clear"])
      throw new UsageError("--cancel or --clear, not both");
    const http = await context.connect();
    const { session_id } = await findSession(http, given.words[0] ?? "");
    if (given.flags["clear"]) {
      const cancelled = await clear(http, session_id);
      if (cancelled.length === 0 && !context.isJson) context.output.note("nothing waits");
      return show(context, { cancelled }, () => cancelled.map((id) => `cancelled ${id}`));
    }
    if (message_id !== undefined) {
      const reply = await http.cancelInput(session_id, message_id);
      return show(context, reply, () => [`cancelled ${message_id}`]);
    }
    const queue = await http.queue(session_id);
    if (given.flags["ids"])
      return show(context, queue, () => queue.queued.map((message) => message.message_id));
    const isEmpty = queue.queued.length + queue.recent.length === 0;
    if (isEmpty && !context.isJson) context.output.note("nothing was sent yet");
    return show(context, queue, () => (isEmpty ? [] : queueLines(queue, context.output.columns, Date.now())));
  },
};

/** Gives the ids of what was cancelled; what is delivered meanwhile is not among them. */
async function clear(http: HttpClient, session_id: string): Promise<string[]> {
  const cancelled: string[] = [];
  for (const { message_id } of (await http.queue(session_id)).queued) {
    try {
      await http.cancelInput(session_id, message_id);
      cancelled.push(message_id);
    } catch (error) {
      if (!(error instanceof CodedError) || error.code !== "message_unknown") throw error;
    }
  }
  return cancelled;
}

/** What is next to be delivered first, below it what was delivered, newest first. */
export function queueLines({ queued, recent, held }: QueueReply, columns: number, nowMs: number): string[] {
  const ago = (atMs: number): string => `${duration(Math.max(0, nowMs - atMs))} ago`;
  const waiting = new Set(queued.map(({ message_id }) => message_id));
  const rows = [
    ...queued.map((item) => [
      item.message_id,
      "queued",
      whoText(item),
      ago(item.queued_at_ms),
      preview(item),
    ]),
    ...recent
      .filter(({ message_id }) => !waiting.has(message_id))
      .map((record) => [
        record.message_id,
        record.state,
        record.kind,
        ago(record.queued_at_ms),
        resultText(record),
      ]),
  ];
  return [
    ...table([["MESSAGE", "STATE", "FROM", "SENT", "TEXT"], ...rows], columns),
    ...(held === undefined ? [] : [`held: ${sanitizeLine(held)}`]),
  ];
}

function whoText({ kind, from }: QueuedMessage): string {
  return from === undefined ? kind : `${kind} ${from.slice(0, 8)}`;
}

function preview({ message: { content } }: QueuedMessage): string {
  return cutTo(sanitizeLine(typeof content === "string" ? content : textOf(content)), 200);
}

function resultText({ outcome, error }: InputRecord): string {
  return error?.message ?? outcome ?? "";
}
