// `sm quota`: the limits of the accounts that agents use, and the sessions that wait for one.
import { sanitizeLine } from "../../base/sanitize.ts";
import type { ChangeBody, HttpClient, QuotaReply, SessionView } from "../../client/index.ts";
import { drawPercentBar, formatUntil, formatWindow } from "../../client/view/quota-text.ts";
import { type Arguments, defineFlag, didYouMean, readTextFlag, UsageError } from "../command.ts";
import { formatTable, show } from "../output.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { describeSession, findSession, shortenIds } from "./find.ts";

type OnLimit = NonNullable<ChangeBody["on_limit"]>;
const ON_LIMIT = ["wait", "ask", "fail"] as const satisfies readonly OnLimit[];

export const ON_LIMIT_FLAG = defineFlag(
  "--on-limit WHAT",
  "when a limit of the account is reached: wait for its reset, ask a person, or fail",
);

export const QUOTA: BlemeesCommand = {
  name: "quota",
  usage: "quota [ID]",
  summary: "show the limits of accounts and the sessions that wait for them",
  words: [0, 1],
  completes: "session",
  flags: [
    defineFlag("--refresh", "ask the running agents first"),
    defineFlag("--resume", "deliver the session's messages now, without waiting"),
    defineFlag("--cancel", "do not wait: the message that reached the limit fails"),
    defineFlag("--on-limit WHAT", "from now on: wait, ask, fail, or default (the daemon's on_limit)"),
  ],
  examples: ["quota", "quota --refresh --json", "quota fixer --resume", "quota fixer --on-limit wait"],
  notes: [
    "Limits are what agents last reported; what no agent has reported is not listed. A session that waits is in state",
    "waiting_quota. One session goes first after a reset; the others follow when its turn has succeeded.",
  ],
  async run(given, context) {
    const [id] = given.words;
    const change = readChange(given);
    if (id === undefined) {
      if (change !== undefined) throw new UsageError(`${change.flag} needs a session`);
      const http = await context.connect();
      return showQuota(context, await http.quota({ refresh: given.flags["refresh"] === true }));
    }
    if (given.flags["refresh"]) throw new UsageError("--refresh is for all accounts; leave out the session");
    const http = await context.connect();
    const found = await findSession(http, id);
    const session = change === undefined ? found : await change.make(http, found.session_id);
    if (change !== undefined) return show(context, session, () => [describeWait(session)]);
    const { quota = [], quota_wait, on_limit } = session;
    const shown = { session_id: session.session_id, windows: quota, quota_wait, on_limit };
    return show(context, shown, () => [
      ...formatWindows(quota, context.output.columns),
      describeWait(session),
    ]);
  },
};

interface Change {
  flag: string;
  make(http: HttpClient, session_id: string): Promise<SessionView>;
}

function readChange(given: Arguments): Change | undefined {
  const text = readTextFlag(given, "on-limit");
  const changes: Change[] = [];
  for (const order of ["resume", "cancel"] as const)
    if (given.flags[order])
      changes.push({ flag: `--${order}`, make: (http, id) => http.orderQuota(id, { order }) });
  if (text !== undefined) {
    const on_limit = text === "default" ? null : parseOnLimit(text);
    changes.push({ flag: "--on-limit", make: (http, id) => http.change(id, { on_limit }) });
  }
  const [first, second] = changes;
  if (first !== undefined && second !== undefined)
    throw new UsageError(`use ${first.flag} or ${second.flag}, not both`);
  return first;
}

export function parseOnLimit(text: string): OnLimit {
  const found = ON_LIMIT.find((one) => one === text);
  if (found !== undefined) return found;
  const hint = didYouMean(text, ON_LIMIT) || `; one of ${ON_LIMIT.join(", ")}`;
  throw new UsageError(`--on-limit: unknown word ${JSON.stringify(text)}${hint}`);
}

function describeWait(session: SessionView): string {
  const name = describeSession(session);
  const { quota_wait, on_limit } = session;
  const setting = on_limit === undefined ? "" : ` (on limit: ${on_limit})`;
  return quota_wait === undefined
    ? `${name} does not wait${setting}`
    : `${name}: ${formatUntil(quota_wait, Date.now())}${setting}`;
}

async function showQuota({ output, isJson }: BlemeesContext, quota: QuotaReply): Promise<number> {
  if (isJson) {
    await output.json(quota);
    return 0;
  }
  const { windows, waiting } = quota;
  if (windows.length === 0) output.note("No agent has reported a limit; try --refresh");
  const [head, ...lines] = formatWindows(windows, output.columns);
  if (head !== undefined) await output.styledLine("dim", head);
  for (const line of lines) await output.line(line);
  if (waiting.length === 0) return 0;
  await output.line("");
  const shorts = shortenIds(waiting.map(({ session_id }) => session_id));
  const rows = waiting.map((wait) => [
    shorts.get(wait.session_id) ?? wait.session_id,
    sanitizeLine(wait.name ?? wait.title ?? ""),
    wait.backend,
    formatUntil(wait, Date.now()),
  ]);
  const [title = "", ...more] = formatTable([["SESSION", "NAME", "AGENT", "STATE"], ...rows], output.columns);
  await output.styledLine("dim", title);
  for (const line of more) await output.line(line);
  return 0;
}

function formatWindows(windows: QuotaReply["windows"], columns: number): string[] {
  if (windows.length === 0) return [];
  const rows = windows.map((window) => [
    window.backend,
    sanitizeLine(window.account),
    ...formatWindow(window, Date.now()),
    drawPercentBar(window),
  ]);
  return formatTable([["AGENT", "ACCOUNT", "WINDOW", "USED", "RESETS", ""], ...rows], columns);
}
