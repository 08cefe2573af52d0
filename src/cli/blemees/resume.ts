// `sm resume`: after a restart or a crash, continues sessions that were cut, failed or held. Says what it will do first.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { HttpClient, SessionView } from "../../client/index.ts";
import { type Arguments, defineFlag, readTextFlag, UsageError } from "../command.ts";
import { formatTable } from "../output.ts";
import { ANY } from "../program.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { runOnEach } from "./each.ts";
import { shortenIds } from "./find.ts";
import { CONTINUE_TEXT, describeTodo, planResume, type ResumePlan } from "./resume-plan.ts";
import {
  hasSelection,
  listOwn,
  requireOneWay,
  SELECTING,
  SELECTING_NOTES,
  selectSessions,
} from "./select.ts";

export const RESUME: BlemeesCommand = {
  name: "resume",
  usage: "resume ID…",
  summary: "continue sessions that were cut by a restart or a crash, failed, or are held",
  words: [0, ANY],
  completes: "session",
  flags: [
    defineFlag(
      "--all",
      "all sessions that were cut, failed or are held; not those stopped or interrupted on purpose",
    ),
    defineFlag("--message TEXT", "send this to agents whose turn was cut or failed"),
    defineFlag("-y, --yes", "do not ask for confirmation"),
    ...SELECTING,
  ],
  examples: ["resume --all", "resume --failed --yes", 'resume fixer --message "continue with step 3"'],
  notes: [
    ...SELECTING_NOTES,
    "An agent whose turn was cut is asked to check what is done and to continue. Its last message is never repeated: it may",
    "have run in part. Messages that are still queued were never delivered, and are delivered as they are.",
  ],
  async run(given, context) {
    if (given.flags["all"] === true && (hasSelection(given) || given.words.length > 0))
      throw new UsageError("use --all alone, without names and other flags");
    const text = readTextFlag(given, "message") ?? CONTINUE_TEXT;
    if (text.trim() === "") throw new UsageError("--message is empty");
    const http = await context.connect();
    const plans = await makePlans(http, given, context);
    const todo = plans.filter(({ kind }) => kind !== "none");
    await explain(context, plans, text);
    if (todo.length === 0)
      throw new CodedError("session_unknown", "nothing done: no session was cut, failed or is held");
    if (!(await confirmPlans(given, context, todo))) return 1;
    const act = async (session: SessionView): Promise<Resumed> => resumeOne(http, session, text);
    return runOnEach(
      context,
      todo.map(({ session }) => session),
      { act, describe: ({ did }) => did },
    );
  },
};

/** Named sessions also if there is nothing to do, so that the reason is shown. */
async function makePlans(http: HttpClient, given: Arguments, context: BlemeesContext): Promise<ResumePlan[]> {
  if (given.flags["all"] === true) {
    const own = await listOwn(http, context.self);
    const sessions = await http.sessions({ archived: false });
    const found = sessions.filter(
      ({ session_id, stopped_at_ms }) => stopped_at_ms === undefined && (own?.has(session_id) ?? true),
    );
    return found.map(planResume).filter(({ kind }) => kind !== "none");
  }
  requireOneWay(given, given.words);
  const { sessions } = await selectSessions(http, given, given.words, context);
  return sessions.map(planResume);
}

async function explain(
  { output, isJson }: BlemeesContext,
  plans: readonly ResumePlan[],
  text: string,
): Promise<void> {
  if (isJson || plans.length === 0) return;
  const shorts = shortenIds(plans.map(({ session }) => session.session_id));
  const rows = plans.map((plan) => [
    shorts.get(plan.session.session_id) ?? "",
    sanitizeLine(plan.session.name ?? "-"),
    describeTodo(plan),
    sanitizeLine(plan.why),
  ]);
  const lines = formatTable([["SESSION", "NAME", "WILL", "BECAUSE"], ...rows], output.talkColumns);
  const hasMessage = plans.some(({ kind }) => kind === "message");
  output.ask([...lines, ...(hasMessage ? [`Message: ${sanitizeLine(text)}`] : [])].join("\n"));
}

async function confirmPlans(
  given: Arguments,
  { confirm, isJson }: BlemeesContext,
  todo: readonly ResumePlan[],
): Promise<boolean> {
  if (given.flags["yes"] === true) return true;
  const count = `${todo.length} session${todo.length === 1 ? "" : "s"}`;
  if (confirm !== undefined && !isJson) return confirm(`Resume ${count}?`);
  const data = {
    plan: todo.map(({ session: { session_id }, kind, why }) => ({ session_id, kind, why })),
  };
  throw new CodedError("not_confirmed", `nothing done: add --yes to resume ${count}`, { data });
}

interface Resumed {
  kind: ResumePlan["kind"];
  did: string;
  message_id?: string;
}

/** Looked at again: someone may have been faster. */
async function resumeOne(http: HttpClient, { session_id }: SessionView, text: string): Promise<Resumed> {
  const { kind, why } = planResume(await http.session(session_id));
  if (kind === "queue") {
    const { queued } = await http.resumeQueue(session_id);
    return { kind, did: `its queue continues (${queued})` };
  }
  if (kind === "none") return { kind, did: `nothing left to do: ${why}` };
  const { input } = await http.input(session_id, { text });
  return { kind, did: "asked to continue", message_id: input.message_id };
}
