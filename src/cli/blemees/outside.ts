// Sessions that were started outside: lists and reads the agents' own transcripts, and continues one (`sm adopt`).
import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { HttpClient, TranscriptsFilter, TranscriptView } from "../../client/index.ts";
import { formatAge } from "../../client/view/format.ts";
import { applyInputs, changedEntries, emptyView } from "../../client/view.ts";
import { defineFlag, readTextFlag, UsageError } from "../command.ts";
import { formatEntry } from "../entry-lines.ts";
import { formatTable, show } from "../output.ts";
import { ANY } from "../program.ts";
import { parseOpenPairs } from "../values.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { shortenIds } from "./find.ts";
import { FILE, readPrompt } from "./prompt-text.ts";

const HEADER = ["SESSION", "AGENT", "ACTIVE", "PROJECT", "TITLE"];
/** The page is bounded. */
const LIMITS = { maxEntries: 5_000 };
/** Enough to say which ones a prefix means. */
const MAX_NAMED = 10;

export async function listOutside(filter: TranscriptsFilter, context: BlemeesContext): Promise<number> {
  const reply = await (await context.connect()).transcripts(filter);
  const { transcripts, next } = reply;
  if (!context.isJson && transcripts.length === 0)
    context.output.note("No sessions were started outside, or none fits");
  await show(context, reply, () =>
    transcripts.length === 0 ? [] : formatTranscripts(transcripts, context.output.columns, Date.now()),
  );
  if (!context.isJson && next !== undefined)
    context.output.note(`· There are more; --limit N or --project NAME shows others`);
  return 0;
}

export function formatTranscripts(
  transcripts: readonly TranscriptView[],
  columns: number,
  nowMs: number,
): string[] {
  const shorts = shortenIds(transcripts.map(({ session_id }) => session_id));
  const rows = transcripts.map(({ session_id, provider, last_active_at_ms, project, title, open_in_pid }) => [
    shorts.get(session_id) ?? session_id,
    provider,
    open_in_pid === undefined ? formatAge(Math.max(0, nowMs - last_active_at_ms)) : `open in ${open_in_pid}`,
    project?.split("/").at(-1) ?? "-",
    title ?? "",
  ]);
  return formatTable([HEADER, ...rows], columns);
}

/** By its id or the start of it; undefined if there is none. Throws `session_ambiguous`. */
export async function findTranscript(
  http: HttpClient,
  prefix: string,
  agent?: string,
): Promise<TranscriptView | undefined> {
  if (prefix === "") return undefined;
  const { transcripts } = await http.transcripts({ prefix, limit: MAX_NAMED, ...defined({ agent }) });
  const [only, ...others] = transcripts;
  const exact = transcripts.find(({ session_id }) => session_id === prefix);
  if (exact !== undefined || others.length === 0) return exact ?? only;
  const candidates = transcripts.map(({ session_id }) => session_id);
  throw new CodedError(
    "session_ambiguous",
    `${JSON.stringify(prefix)} matches ${candidates.length} sessions started outside: ${candidates.join(", ")}`,
    { data: { candidates } },
  );
}

/**
 * Runs `work` for a session of the daemon; if there is none of that id, `other` for one that was started outside. Without
 * either, the first error counts.
 */
export async function findElseOutside<T>(
  http: HttpClient,
  given: string,
  work: () => Promise<T>,
  other: (transcript: TranscriptView) => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "session_unknown") throw error;
    const found = await findTranscript(http, given).catch((fault: unknown) => {
      // An agent that does not see it gets the first error.
      if (fault instanceof CodedError && fault.code === "session_ambiguous") throw fault;
      return undefined;
    });
    if (found === undefined) throw error;
    return other(found);
  }
}

export async function showTranscript(view: TranscriptView, context: BlemeesContext): Promise<number> {
  const rows: [string, string | undefined][] = [
    ["session", view.session_id],
    ["started", `outside; continue it with: sm adopt ${view.session_id}`],
    ["agent", [view.provider, view.model].filter((part) => part !== undefined).join(", ")],
    ["title", view.title],
    ["cwd", view.cwd],
    ["project", view.project],
    ["active", `${formatAge(Math.max(0, Date.now() - view.last_active_at_ms))} ago`],
    ["open in", view.open_in_pid === undefined ? undefined : `process ${view.open_in_pid}`],
    ["size", `${Math.ceil(view.size_bytes / 1024)} KiB`],
  ];
  return show(context, view, () =>
    formatTable(
      rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      Number.POSITIVE_INFINITY,
    ),
  );
}

/** The end of the conversation, as `sm tail -f` prints that of a session. */
export async function printTranscriptEnd(
  http: HttpClient,
  { session_id, backend }: TranscriptView,
  limit: number,
  context: BlemeesContext,
): Promise<number> {
  const page = await http.transcriptEvents(session_id, {
    agent: backend,
    tail: true,
    limit: Math.max(1, limit),
  });
  if (context.isJson) {
    await context.output.json(page);
    return 0;
  }
  const inputs = page.events.map(({ seq, frame, type }) => ({
    kind: "frame" as const,
    seq,
    frame: { ...frame, type },
  }));
  const before = emptyView();
  const { output } = context;
  for (const change of changedEntries(before, applyInputs(before, inputs, LIMITS)))
    for (const { text, style } of formatEntry(change, output.columns, context.words))
      await output.styledLine(style, text);
  output.note(`· Started outside; continue it with: sm adopt ${session_id}`);
  return 0;
}

export const ADOPT: BlemeesCommand = {
  name: "adopt",
  usage: "adopt ID [prompt…]",
  summary: "continue a session that was started outside, with its history: `sm all --outside` lists them",
  words: [1, ANY],
  completes: "outside",
  flags: [
    FILE,
    defineFlag("-a, --agent NAME", "only if it is this agent's"),
    defineFlag("-m, --model NAME", "the model"),
    defineFlag("-n, --name NAME", "the session's name; commands accept it instead of the id"),
    defineFlag("--no-approvals", "let the agent act without asking"),
    defineFlag("-o, --option KEY=VALUE", "an option of the agent; may be repeated", { isMany: true }),
  ],
  examples: ["adopt 6e913afd", 'adopt 6e913afd --name login "now fix the tests"'],
  notes: ["It must not be open in another program. It keeps its id and its directory."],
  async run(given, context) {
    const [id = "", ...words] = given.words;
    const prompt = await readPrompt(words, given, context);
    const http = await context.connect();
    const found = await findTranscript(http, id, readTextFlag(given, "agent"));
    if (found === undefined)
      throw new CodedError(
        "transcript_unknown",
        `no session that was started outside has the id ${JSON.stringify(id)}; \`sm all --outside\` lists them`,
      );
    const { options, top } = parseOpenPairs(given.many["option"] ?? [], found.backend);
    const [odd] = Object.keys(top);
    if (odd !== undefined) throw new UsageError(`--option ${odd}: not an option of the agent`);
    const reply = await http.spawn({
      backend: found.backend,
      transcript: found.session_id,
      ...defined({ prompt, model: readTextFlag(given, "model"), name: readTextFlag(given, "name") }),
      ...(Object.keys(options).length === 0 ? {} : { options }),
      ...(given.flags["no-approvals"] ? { approvals: false } : {}),
    });
    if (!context.isJson && context.output.isTerminal)
      context.output.note(`· Open it with: sm attach ${found.session_id}`);
    return show(context, reply, () => [reply.session.session_id]);
  },
};
