// Slash commands of a daemon session: what `sm` can do to it.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { QueuedMessage } from "../../client/http/types.ts";
import type { HttpClient } from "../../client/http.ts";
import { findLastAnswered, formatPreview } from "../../client/view/rule-text.ts";
import type { DriverCommand } from "../types.ts";

export interface CommandContext {
  http: HttpClient;
  session_id: string;
  /** Adds a line to the feed. */
  say(text: string, level?: "info" | "warn"): void;
}

const MAX_PREVIEW = 60;

export function createDaemonCommands({ http, session_id, say }: CommandContext): readonly DriverCommand[] {
  return [
    {
      name: "/interrupt",
      summary: "interrupt the turn; the agent keeps running",
      isAlways: true,
      async run() {
        const { was_idle } = await http.interrupt(session_id);
        if (was_idle) say("no turn was running");
      },
    },
    {
      name: "/now",
      summary: "TEXT: interrupt the turn and send TEXT ahead of the queue",
      isAlways: true,
      async run(rest) {
        if (rest.trim() === "") throw usage("/now TEXT");
        await http.input(session_id, { text: rest.trim(), now: true });
      },
    },
    {
      name: "/stop",
      summary: "stop the agent; history and queue are kept, and the next message restarts it",
      isAlways: true,
      async run() {
        const stopped = await http.stop(session_id);
        say(stopped.length === 0 ? "the agent was not running" : "agent stopped");
      },
    },
    {
      name: "/name",
      summary: "TEXT: rename the session; without TEXT, remove its name",
      isAlways: true,
      async run(rest) {
        const name = rest.trim();
        await http.rename(session_id, name === "" ? null : name);
        say(name === "" ? "name removed" : `renamed to ${sanitizeLine(name)}`);
      },
    },
    {
      name: "/queue",
      summary: "list queued messages; `/queue cancel N`, `/queue clear`",
      isAlways: true,
      async run(rest) {
        const [verb = "", which = ""] = rest.trim().split(/\s+/);
        const { queued, held } = await http.queue(session_id);
        if (verb === "clear") return cancel(http, session_id, queued, say);
        if (verb === "cancel") {
          const found = queued[Number(which) - 1] ?? queued.find(({ message_id }) => message_id === which);
          if (found === undefined) throw usage("/queue cancel N, with N from /queue");
          return cancel(http, session_id, [found], say);
        }
        if (verb !== "") throw usage("/queue, /queue cancel N or /queue clear");
        say(queueText(queued, held));
      },
    },
    {
      name: "/rule",
      summary: "make a rule of the last answer: shows what it would decide; `/rule save N` saves it",
      isAlways: true,
      run: (rest) => makeRule({ http, session_id, say }, rest),
    },
    {
      name: "/info",
      summary: "id, agent, directory and usage",
      isAlways: true,
      async run() {
        const { provider, model, cwd, turns, usage, cost_usd } = await http.session(session_id);
        const facts = [
          `session ${session_id}`,
          [provider, model].filter((part) => part !== undefined).join(", "),
          ...(cwd === undefined ? [] : [cwd]),
          `${turns} turns, ${usage.input_tokens ?? 0} tokens in, ${usage.output_tokens ?? 0} out`,
          ...(cost_usd === undefined ? [] : [`$${cost_usd.toFixed(2)}`]),
        ];
        say(facts.map(sanitizeLine).join("\n"));
      },
    },
  ];
}

async function cancel(
  http: HttpClient,
  session_id: string,
  messages: readonly QueuedMessage[],
  say: CommandContext["say"],
): Promise<void> {
  let count = 0;
  for (const { message_id } of messages) {
    try {
      await http.cancelInput(session_id, message_id);
      count += 1;
    } catch (error) {
      // Already delivered.
      if (!(error instanceof CodedError) || error.code !== "message_unknown") throw error;
    }
  }
  say(count === 0 ? "the queue was empty" : `removed from the queue: ${count}`);
}

function queueText(queued: readonly QueuedMessage[], held: string | undefined): string {
  const lines = queued.map(({ message: { content } }, at) => {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    const line = sanitizeLine(text);
    return `${at + 1}. ${line.length > MAX_PREVIEW ? `${line.slice(0, MAX_PREVIEW)}…` : line}`;
  });
  const why = held === undefined ? [] : [`held: ${sanitizeLine(held)}`];
  return [...(lines.length === 0 ? ["the queue is empty"] : lines), ...why].join("\n");
}

function usage(text: string): CodedError {
  return new CodedError("usage", `usage: ${text}`);
}

/** Shows the suggestions for the last answered request, or saves one of them. */
async function makeRule({ http, session_id, say }: CommandContext, rest: string): Promise<void> {
  const [verb = "", which = "1"] = rest.trim().split(/\s+/);
  if (verb !== "" && verb !== "save") throw usage("/rule, or /rule save N");
  const rows = await http.allRequests({ session_id, include_settled: true });
  const answered = findLastAnswered(rows);
  if (answered === undefined) return say("no request of this session was answered yet", "warn");
  const suggestions = await http.suggestRules(session_id, answered.request_id);
  if (suggestions.length === 0)
    return say(
      `no rule can be made of ${answered.request_id}; see \`sm policy explain ${answered.request_id}\``,
      "warn",
    );
  if (verb === "save") {
    const chosen = suggestions[Number(which) - 1];
    if (chosen === undefined) throw usage(`/rule save N, with N from 1 to ${suggestions.length}`);
    const { rule } = await http.addRule(chosen.rule);
    return say(`saved the rule ${rule.id}; \`sm policy rm ${rule.id}\` removes it`);
  }
  const blocks = suggestions.map((one, at) =>
    formatPreview(one).map((line, row) => (row === 0 ? `${at + 1}. ${line}` : `   ${line}`)),
  );
  say([...blocks.flat(), "Save one with /rule save N."].join("\n"));
}
