// `sm spawn`: starts a session without an owner. Inside an agent it is a child of the agent's session.

import { resolve } from "node:path";
import { sanitizeLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import type { SessionView, SpawnBody } from "../../client/index.ts";
import { type Arguments, defineFlag, readNumberFlag, readTextFlag, UsageError } from "../command.ts";
import { show } from "../output.ts";
import { ANY } from "../program.ts";
import { parseOpenPairs } from "../values.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { findSession, shortenIds } from "./find.ts";
import { printAnswer } from "./message-wait.ts";
import { EXIT_NOTES } from "./outcome.ts";
import { FILE, readPrompt } from "./prompt-text.ts";
import { ON_LIMIT_FLAG, parseOnLimit } from "./quota.ts";

export const SPAWN: BlemeesCommand = {
  name: "spawn",
  usage: "spawn AGENT [prompt…]",
  summary: "start an agent; prints the session's id",
  words: [1, ANY],
  completes: ["claude", "codex", "demo"],
  flags: [
    FILE,
    defineFlag("--cwd DIR", "working directory (default: the current one)", { completes: "file" }),
    defineFlag("-m, --model NAME", "the model"),
    defineFlag("-n, --name NAME", "the session's name; commands accept it instead of the id"),
    defineFlag("-l, --label LABEL", "a word to find and choose it by; may be repeated", { isMany: true }),
    defineFlag("--parent ID", "the parent session (default inside an agent: its own)"),
    defineFlag("--no-approvals", "let the agent act without asking"),
    defineFlag("-o, --option KEY=VALUE", "an option of the agent; may be repeated", { isMany: true }),
    defineFlag(
      "--worktree[=NAME]",
      "work in a new git worktree with a branch of its own (sm worktrees lists them)",
    ),
    defineFlag("--base REF", "with --worktree: the commit or branch to start from"),
    defineFlag("--with-changes", "with --worktree: copy what is changed but not committed"),
    defineFlag("--budget-usd N", "maximum cost of it and everything below it (sm budget changes it)"),
    defineFlag("--max-turns N", "the same for turns"),
    defineFlag("--max-tokens N", "the same for output tokens and input tokens not read from the cache"),
    defineFlag("--max-wall S", "the same for time in turns, in seconds"),
    ON_LIMIT_FLAG,
    defineFlag("--no-wake", "do not wake the parent when this session finishes or asks"),
    defineFlag(
      "--ask",
      "in an agent: let a person decide if the session needs more rights than the agent has",
    ),
    defineFlag("--may-answer", "let the agent answer requests of the sessions it spawns"),
    defineFlag("--manager", "give the agent tools to spawn and manage agents below it"),
    defineFlag("--mcp NAME,…", "MCP servers for the agent: tables [mcp.NAME] of the daemon's config file"),
    defineFlag("--notify URL", "webhook for requests and finished turns (see notify_allow_urls)"),
    defineFlag("--request-timeout S", "decline its requests after S seconds without an answer; 0: never"),
    defineFlag("--remind S", "notify again every S seconds while a request is not answered; 0: never"),
    defineFlag("-w, --wait", "wait for the answer and print it"),
    defineFlag("-t, --timeout S", "with --wait: give up after S seconds"),
  ],
  examples: [
    'spawn codex --name fixer "make the tests pass"',
    "spawn claude --file task.md --wait",
    "git diff | sm spawn claude -o permission_mode=plan -",
    'spawn codex --worktree=fix-login "fix the login test"',
    'spawn codex --label nightly "run the slow tests"',
    'spawn claude --name lead --budget-usd 5 --max-turns 40 "…"',
  ],
  notes: [
    "The prompt comes from the arguments, a file, or stdin. Without one the agent waits for `sm send`.",
    "Exit status with --wait:",
    ...EXIT_NOTES,
  ],
  async run(given, context) {
    const [agent = "", ...words] = given.words;
    const prompt = await readPrompt(words, given, context);
    const timeout = readNumberFlag(given, "timeout");
    if (given.flags["wait"] && prompt === undefined)
      throw new UsageError("--wait needs a prompt to wait for");
    const on_limit = readTextFlag(given, "on-limit");
    if (on_limit !== undefined) parseOnLimit(on_limit);
    const http = await context.connect();
    const parent = readTextFlag(given, "parent");
    const name = readTextFlag(given, "name");
    const body: SpawnBody = {
      ...(agent === "codex-app" ? { provider: agent } : { backend: agent }),
      cwd: resolve(readTextFlag(given, "cwd") ?? "."),
      ...defined({
        prompt,
        model: readTextFlag(given, "model"),
        name,
        notify_url: readTextFlag(given, "notify"),
        labels: given.many["label"]?.slice(),
        mcp: readTextFlag(given, "mcp")?.split(","),
        request_timeout_s: readNumberFlag(given, "request-timeout"),
        remind_s: readNumberFlag(given, "remind"),
      }),
      ...(parent === undefined ? {} : { parent: (await findSession(http, parent)).session_id }),
      ...readOptions(given.many["option"] ?? [], agent),
      ...(given.flags["no-approvals"] ? { approvals: false } : {}),
      ...(given.flags["ask"] ? { ask: true } : {}),
      ...(given.flags["manager"] ? { manager: true } : {}),
      ...(given.flags["may-answer"] ? { may_answer: true } : {}),
      ...(given.flags["no-wake"] ? { wakes_parent: false } : {}),
      ...readBudget(given),
      ...readWorktree(given),
      ...(on_limit === undefined ? {} : { on_limit: parseOnLimit(on_limit) }),
    };
    const twins = name === undefined ? [] : await http.sessions({ name });
    if (body.worktree !== undefined) context.output.note("· making a worktree …");
    const reply = await http.spawn(body);
    warnSameName(context, reply.session, twins);
    if (reply.notice !== undefined) context.output.note(`· ${sanitizeLine(reply.notice)}`);
    const { session, message_id } = reply;
    const { session_id } = session;
    if (given.flags["wait"] && message_id !== undefined) {
      context.output.note(`· spawned ${session_id}`);
      const sent = { session, message_id, since_seq: 0, reply };
      return printAnswer(http, context, sent, timeout === undefined ? undefined : timeout * 1000);
    }
    if (!context.isJson && context.output.isTerminal)
      context.output.note(`· Follow it with: sm tail -f ${session_id}`);
    return show(context, reply, () => [session_id]);
  },
};

/** A name that several sessions share is ambiguous. */
function warnSameName(
  { output }: BlemeesContext,
  { session_id, name }: SessionView,
  twins: readonly SessionView[],
): void {
  const others = twins.filter((view) => view.stopped_at_ms === undefined && view.session_id !== session_id);
  if (others.length === 0) return;
  const ids = [...shortenIds(others.map((view) => view.session_id)).values()].join(", ");
  output.note(`· ${sanitizeLine(name ?? "")} is also the name of ${ids}; use ids, or rename one`);
}

function readOptions(pairs: readonly string[], agent: string): Pick<SpawnBody, "options"> {
  if (pairs.length === 0) return {};
  const { options, top } = parseOpenPairs(pairs, agent === "codex-app" ? "codex" : agent);
  const [odd] = Object.keys(top);
  if (odd !== undefined) throw new UsageError(`--option ${odd}: not an option of the agent`);
  return { options };
}

function readWorktree(given: Arguments): Pick<SpawnBody, "worktree"> {
  const { worktree, "with-changes": with_changes } = given.flags;
  const base = readTextFlag(given, "base");
  if (worktree === undefined) {
    const odd = base !== undefined ? "--base" : with_changes === true ? "--with-changes" : undefined;
    if (odd !== undefined) throw new UsageError(`${odd} needs --worktree`);
    return {};
  }
  const name = worktree === true ? undefined : worktree;
  return { worktree: { ...defined({ name, base }), ...(with_changes === true ? { with_changes } : {}) } };
}

function readBudget(given: Arguments): Pick<SpawnBody, "budget"> {
  const budget = defined({
    max_cost_usd: readNumberFlag(given, "budget-usd"),
    max_turns: readNumberFlag(given, "max-turns"),
    max_tokens: readNumberFlag(given, "max-tokens"),
    max_wall_s: readNumberFlag(given, "max-wall"),
  });
  return Object.keys(budget).length === 0 ? {} : { budget };
}
