// `sm tail`: recent actions of an agent; with -f, its messages and actions as they happen.
import type { Action, HttpClient, SessionView, StreamItem } from "../../client/index.ts";
import { applyInputs, changedEntries, emptyView } from "../../client/view.ts";
import { type Arguments, defineFlag, readNumberFlag, UsageError } from "../command.ts";
import { formatEntry } from "../entry-lines.ts";
import { show } from "../output.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { findSession } from "./find.ts";
import { findElseOutside, printTranscriptEnd } from "./outside.ts";
import { formatAction } from "./session-lines.ts";

const DEFAULT_LINES = 10;

export const TAIL: BlemeesCommand = {
  name: "tail",
  usage: "tail ID",
  summary: "print the latest actions of an agent; with -f follow its messages and actions",
  words: [1, 1],
  completes: "session",
  flags: [
    defineFlag("-f, --follow", "follow until Ctrl-C, also across restarts of the daemon"),
    defineFlag("-n, --lines N", `print the last N actions (default ${DEFAULT_LINES})`),
  ],
  examples: ["tail fixer", "tail -f fixer"],
  notes: [
    'With -f and --json one object per line: {"action": …} for past actions, then frames of the session.',
  ],
  async run(given, context) {
    const limit = readNumberFlag(given, "lines", { isWhole: true }) ?? DEFAULT_LINES;
    const http = await context.connect({ isPatient: given.flags["follow"] === true });
    const [id = ""] = given.words;
    return findElseOutside(
      http,
      id,
      async () => tailSession(await findSession(http, id), { http, given, limit, context }),
      (transcript) => {
        if (given.flags["follow"])
          throw new UsageError(
            `${transcript.session_id} was started outside and cannot be followed; continue it here with: sm adopt ${transcript.session_id}`,
          );
        return printTranscriptEnd(http, transcript, limit, context);
      },
    );
  },
};

async function tailSession(
  session: SessionView,
  {
    http,
    given,
    limit,
    context,
  }: { http: HttpClient; given: Arguments; limit: number; context: BlemeesContext },
): Promise<number> {
  const { session_id } = session;
  const actions = limit === 0 ? [] : (await http.actions(session_id, limit)).reverse();
  if (!given.flags["follow"]) {
    if (actions.length === 0 && limit > 0 && !context.isJson) context.output.note("No actions recorded");
    return show(context, { session_id, actions }, () => formatActions(actions, new Date()));
  }
  if (context.isJson) for (const action of actions) await context.output.json({ action });
  else for (const line of formatActions(actions, new Date())) await context.output.line(line);
  return follow(http, session, context);
}

/** Oldest first, with the time, and the date if it is not today. */
export function formatActions(actions: readonly Action[], now: Date): string[] {
  // Actions are ordered by their end.
  return actions.map((action) => {
    const at = new Date(action.ended_at_ms ?? action.started_at_ms);
    return `${formatTime(at, now)}  ${formatAction(action)}`;
  });
}

export function formatTime(at: Date, now: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const isToday = at.toDateString() === now.toDateString();
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":");
  return isToday ? time : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

/** Older entries no longer change. */
const LIMITS = { maxEntries: 500 };

/** Continues after the last event known when the actions were read, so that nothing is missed. */
async function follow(http: HttpClient, session: SessionView, context: BlemeesContext): Promise<number> {
  const { output, signal } = context;
  const items = http.follow(session.session_id, { since_seq: session.last_seq, signal });
  let view = emptyView();
  for await (const item of items) {
    if (context.isJson) await output.json(item.kind === "frame" ? item.frame : { [item.kind]: item.data });
    else if (item.kind !== "frame") output.note(signText(item));
    else {
      const next = applyInputs(view, [item], LIMITS);
      for (const change of changedEntries(view, next))
        for (const { text, style } of formatEntry(change, output.columns, context.words))
          await output.styledLine(style, text);
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
