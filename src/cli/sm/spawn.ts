// `sm spawn`: a session that lives without an owner. Inside an agent it is a child of the agent's own session.
import { resolve } from "node:path";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { SessionView, SpawnBody } from "../../client/index.ts";
import { UsageError } from "../command.ts";
import { parseOpenPairs } from "../values.ts";
import { ANY, type Command, type Context, numberFlag, show, textFlag } from "./command.ts";
import { findSession, shortIds } from "./find.ts";
import { printAnswer } from "./message-wait.ts";
import { EXIT_NOTES } from "./outcome.ts";
import { FILE, promptText } from "./prompt-text.ts";

export const SPAWN: Command = {
  name: "spawn",
  usage: "spawn AGENT [prompt…]",
  summary: "start an agent on something; prints its session's id",
  words: [1, ANY],
  completes: ["claude", "codex", "demo"],
  flags: [
    FILE,
    { name: "cwd", value: "DIR", completes: "file", summary: "where the agent works (default: here)" },
    { name: "model", short: "m", value: "NAME", summary: "which model it uses" },
    { name: "name", short: "n", value: "NAME", summary: "what you call it; every command takes that name" },
    { name: "parent", value: "ID", summary: "whose child it is (inside an agent: that agent's)" },
    { name: "no-approvals", summary: "the agent does not ask before it acts" },
    {
      name: "option",
      short: "o",
      value: "KEY=VALUE",
      isMany: true,
      summary: "an option of the agent; more than once",
    },
    { name: "budget-usd", value: "N", summary: "what it may cost, where the agent knows" },
    { name: "no-wake", summary: "do not wake the parent for it" },
    { name: "notify", value: "URL", summary: "called when it waits or is done (see notify_allow_urls)" },
    { name: "wait", short: "w", summary: "wait for the answer and print it" },
    { name: "timeout", short: "t", value: "S", summary: "wait so many seconds at most" },
  ],
  examples: [
    'spawn codex --name fixer "make the tests pass"',
    "spawn claude --file task.md --wait",
    "git diff | sm spawn claude -o permission_mode=plan -",
  ],
  notes: [
    "The prompt is the words, a file, or what is piped in. Without one the agent waits for `sm send`.",
    "With --wait:",
    ...EXIT_NOTES,
  ],
  async run(given, context) {
    const [agent = "", ...words] = given.words;
    const prompt = await promptText(words, given, context);
    const timeout = numberFlag(given, "timeout");
    if (given.flags["wait"] && prompt === undefined)
      throw new UsageError("--wait needs a prompt to wait for");
    const http = await context.connect();
    const parent = textFlag(given, "parent");
    const name = textFlag(given, "name");
    const body: SpawnBody = {
      ...(agent === "codex-app" ? { provider: agent } : { backend: agent }),
      cwd: resolve(textFlag(given, "cwd") ?? "."),
      ...(prompt === undefined ? {} : { prompt }),
      ...optional("model", textFlag(given, "model")),
      ...optional("name", name),
      ...optional("notify_url", textFlag(given, "notify")),
      ...(parent === undefined ? {} : { parent: (await findSession(http, parent)).session_id }),
      ...optionsOf(given.many["option"] ?? [], agent),
      ...(given.flags["no-approvals"] ? { approvals: false } : {}),
      ...(given.flags["no-wake"] ? { wakes_parent: false } : {}),
      ...budgetOf(numberFlag(given, "budget-usd")),
    };
    const twins = name === undefined ? [] : await http.sessions({ name });
    const reply = await http.spawn(body);
    tellTwins(context, reply.session, twins);
    const { session, message_id } = reply;
    const { session_id } = session;
    if (given.flags["wait"] && message_id !== undefined) {
      context.output.note(`· spawned ${session_id}`);
      const sent = { session, message_id, since_seq: 0, reply };
      return printAnswer(http, context, sent, timeout === undefined ? undefined : timeout * 1000);
    }
    if (!context.isJson && context.output.isTerminal)
      context.output.note(`· follow it with: sm tail -f ${session_id}`);
    return show(context, reply, () => [session_id]);
  },
};

/** A name of two sessions means neither of them. */
function tellTwins(
  { output }: Context,
  { session_id, name }: SessionView,
  twins: readonly SessionView[],
): void {
  const others = twins.filter((view) => view.stopped_at_ms === undefined && view.session_id !== session_id);
  if (others.length === 0) return;
  const ids = [...shortIds(others.map((view) => view.session_id)).values()].join(", ");
  output.note(`· ${sanitizeLine(name ?? "")} is also the name of ${ids}: use ids, or give one another name`);
}

function optional<K extends string>(key: K, value: string | undefined): { [key in K]?: string } {
  return (value === undefined ? {} : { [key]: value }) as { [key in K]?: string };
}

function optionsOf(pairs: readonly string[], agent: string): Pick<SpawnBody, "options"> {
  if (pairs.length === 0) return {};
  const { options, top } = parseOpenPairs(pairs, agent === "codex-app" ? "codex" : agent);
  const [odd] = Object.keys(top);
  if (odd !== undefined) throw new UsageError(`--option ${odd}: that is no option of the agent`);
  return { options };
}

function budgetOf(max_cost_usd: number | undefined): Pick<SpawnBody, "budget"> {
  return max_cost_usd === undefined ? {} : { budget: { max_cost_usd } };
}
