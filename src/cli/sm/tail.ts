// `sm tail`: what an agent did lately; with -f, what it says and does from then on.
import type { Action, HttpClient, SessionView, StreamItem } from "../../client/index.ts";
import { applyInputs, changedEntries, emptyView } from "../../client/view.ts";
import { type Command, type Context, numberFlag, show } from "./command.ts";
import { entryLines } from "./entry-lines.ts";
import { findSession } from "./find.ts";
import { actionText } from "./session-lines.ts";

const DEFAULT_LINES = 10;

export const TAIL: Command = {
  name: "tail",
  usage: "tail ID",
  summary: "what an agent did lately; with -f go on with what it says and does",
  words: [1, 1],
  completes: "session",
  flags: [
    { name: "follow", short: "f", summary: "go on until Ctrl-C, also when the daemon is restarted" },
    { name: "lines", short: "n", value: "N", summary: `the last N actions (default ${DEFAULT_LINES})` },
  ],
  examples: ["tail fixer", "tail -f fixer"],
  notes: [
    'With -f and --json one object a line: {"action": …} for what was, then the frames of the session.',
  ],
  async run(given, context) {
    const limit = numberFlag(given, "lines", { isWhole: true }) ?? DEFAULT_LINES;
    const http = await context.connect({ isPatient: given.flags["follow"] === true });
    const session = await findSession(http, given.words[0] ?? "");
    const { session_id } = session;
    const actions = limit === 0 ? [] : (await http.actions(session_id, limit)).reverse();
    if (!given.flags["follow"]) {
      if (actions.length === 0 && limit > 0 && !context.isJson)
        context.output.note("nothing that it did is recorded");
      return show(context, { session_id, actions }, () => actionLines(actions, new Date()));
    }
    if (context.isJson) for (const action of actions) await context.output.json({ action });
    else for (const line of actionLines(actions, new Date())) await context.output.line(line);
    return follow(http, session, context);
  },
};

/** Oldest first, each with its time of day (or its day, when it is older than that). */
export function actionLines(actions: readonly Action[], now: Date): string[] {
  // In the order of their ends, so with the times of these.
  return actions.map((action) => {
    const at = new Date(action.ended_at_ms ?? action.started_at_ms);
    return `${timeText(at, now)}  ${actionText(action)}`;
  });
}

export function timeText(at: Date, now: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const isToday = at.toDateString() === now.toDateString();
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":");
  return isToday ? time : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

/** Only what may still change is looked at again. */
const LIMITS = { maxEntries: 500 };

/** From the event on that the session had when it was looked at, so that nothing falls between. */
async function follow(http: HttpClient, session: SessionView, context: Context): Promise<number> {
  const { output, signal } = context;
  const items = http.follow(session.session_id, { since_seq: session.last_seq, signal });
  let view = emptyView();
  for await (const item of items) {
    if (context.isJson) await output.json(item.kind === "frame" ? item.frame : { [item.kind]: item.data });
    else if (item.kind !== "frame") output.note(signText(item));
    else {
      const next = applyInputs(view, [item], LIMITS);
      for (const change of changedEntries(view, next))
        for (const { text, style } of entryLines(change, output.columns)) {
          if (style === undefined) await output.line(text);
          else await output.styledLine(style, text);
        }
      view = next;
    }
  }
  return 0;
}

function signText({ kind, data }: Exclude<StreamItem, { kind: "frame" }>): string {
  const facts = Object.entries(data)
    .filter(([, value]) => typeof value !== "object")
    .map(([key, value]) => `${key} ${String(value)}`);
  return `· ${SIGNS[kind]}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
}

const SIGNS = {
  gap: "events are missing here",
  catching_up: "fell behind; catching up",
  closed: "the session was closed",
} as const;
