// `sm diff` and `sm undo`: what the turns of a session changed in its repository, and taking it back.
import { sanitizeLine } from "../../base/sanitize.ts";
import type {
  ChangedFile,
  ChangesRange,
  ChangesReply,
  FileChangesReply,
  HttpClient,
  Hunk,
  UndoneFile,
  UndoReply,
} from "../../client/index.ts";
import { describeBase } from "../../client/view/change-list.ts";
import { describeConversation, describeForgetting } from "../../client/view/change-undo.ts";
import { readNumberFlag, UsageError } from "../command.ts";
import { formatTable, type Output, type Style, show } from "../output.ts";
import type { BlemeesCommand } from "./command.ts";
import { CAREFUL, describeSession, findSession } from "./find.ts";

const PAGE = 1000;
const MAX_BAR = 40;

export const DIFF: BlemeesCommand = {
  name: "diff",
  usage: "diff ID",
  summary: "show what a session's turns changed in its git repository",
  words: [1, 1],
  completes: "session",
  flags: [
    { name: "turn", value: "N", summary: "only this turn, counted from 1" },
    {
      name: "base",
      summary:
        "since the branch left the default branch, with commits (on the default branch: since the start)",
    },
    { name: "stat", summary: "files and line counts, and the turns that changed them" },
    { name: "name-only", summary: "only the paths" },
  ],
  examples: ["diff fixer --stat", "diff fixer --turn 2", "diff fixer --base"],
  async run(given, context) {
    if (given.flags["stat"] && given.flags["name-only"])
      throw new UsageError("use --stat or --name-only, not both");
    const turn = readNumberFlag(given, "turn", { isWhole: true });
    if (given.flags["base"] && turn !== undefined) throw new UsageError("use --base or --turn, not both");
    const http = await context.connect();
    const { session_id } = await findSession(http, given.words[0] ?? "");
    const range = given.flags["base"] ? { from: "base" as const } : turn === undefined ? {} : { turn };
    const changes = await readAll(http, session_id, range);
    if (context.isJson) return show(context, changes, () => []);
    const { output } = context;
    if (changes.state === "none") {
      output.error(`No changes: ${changes.reason ?? "there are no checkpoints"}`);
      return 1;
    }
    for (const note of listNotes(changes, turn)) output.note(note);
    if (changes.files.length === 0)
      output.note(turn === undefined ? "No file was changed" : `Turn ${turn} changed no file`);
    if (given.flags["name-only"]) return show(context, changes, () => changes.files.map(({ path }) => path));
    if (given.flags["stat"]) return show(context, changes, () => formatStat(changes, output.columns));
    for (const file of changes.files) {
      const { path, path_b64 } = file;
      const which = { ...range, path, ...(path_b64 === undefined ? {} : { path_b64 }) };
      await printFile(output, file, await http.fileChanges(session_id, which));
    }
    return 0;
  },
};

export const UNDO: BlemeesCommand = {
  name: "undo",
  usage: "undo ID",
  summary:
    "give files the content that they had before a turn, and let the agent forget it; shows what will change, and asks",
  words: [1, 1],
  completes: "session",
  flags: [
    {
      name: "files",
      value: "PATH",
      isMany: true,
      completes: "file",
      summary: "only this file; may be repeated",
    },
    {
      name: "turn",
      value: "N",
      summary: "undo this turn and all later ones (default: the last with changes)",
    },
    { name: "files-only", summary: "leave the agent's conversation as it is" },
    { name: "force", summary: "also files that were changed by others since" },
    { name: "yes", short: "y", summary: "do not ask for confirmation" },
  ],
  examples: ["undo fixer", "undo fixer --turn 2 --files src/a.ts"],
  notes: ["The files as they were are a checkpoint too: docs/changes.md says how to get them back."],
  async run(given, context) {
    const turn = readNumberFlag(given, "turn", { isWhole: true });
    const files = [...(given.many["files"] ?? [])];
    const order = {
      ...(turn === undefined ? {} : { turn }),
      ...(files.length === 0 ? {} : { files }),
      ...(given.flags["force"] === true ? { force: true } : {}),
      ...(given.flags["files-only"] === true ? { files_only: true } : {}),
    };
    const http = await context.connect();
    const session = await findSession(http, given.words[0] ?? "", CAREFUL);
    const { session_id } = session;
    const { output } = context;
    const plan = await http.undo(session_id, { ...order, dry_run: true });
    const refused = plan.files.filter(({ action }) => action === "refused");
    const hasWork = plan.files.length > refused.length || plan.conversation.is_possible === true;
    const isBlocked = !hasWork || (refused.length > 0 && given.flags["force"] !== true);
    if (isBlocked) {
      if (context.isJson) return show(context, plan, () => []).then(() => 1);
      for (const line of formatUndone(plan)) output.note(line);
      output.error(explainBlocked(plan, refused));
      return 1;
    }
    if (!given.flags["yes"]) {
      if (context.confirm === undefined) {
        throw new UsageError(
          `undo changes ${plan.files.length} files and the conversation of ${describeSession(session)}; add --yes to confirm`,
        );
      }
      for (const line of [...formatUndone(plan), sanitizeLine(describeForgetting(plan))]) output.ask(line);
      if (!(await context.confirm(`Undo turn ${plan.turn} and later of ${describeSession(session)}?`)))
        return 1;
    }
    const reply = await http.undo(session_id, { ...order, turn: plan.turn });
    await show(context, reply, () => [...formatUndone(reply), ...formatOutcome(reply)]);
    return reply.done ? 0 : 1;
  },
};

async function readAll(
  http: HttpClient,
  session_id: string,
  range: Pick<ChangesRange, "turn" | "from">,
): Promise<ChangesReply> {
  const first = await http.sessionChanges(session_id, { ...range, limit: PAGE });
  const files = [...first.files];
  let { next } = first;
  while (next !== undefined) {
    const page = await http.sessionChanges(session_id, { ...range, limit: PAGE, after: next });
    files.push(...page.files);
    next = page.next;
  }
  const { next: _more, ...rest } = first;
  return { ...rest, files };
}

/** Nothing that is missing is missing silently. */
export function listNotes(
  { turns, not_covered = [], base }: ChangesReply,
  turn: number | undefined,
): string[] {
  const skipped = turns.filter(
    (one) => one.skipped !== undefined && (turn === undefined || one.turn === turn),
  );
  return [
    ...(base === undefined ? [] : [describeBase(base)]),
    ...skipped.map((one) => `Turn ${one.turn}: a checkpoint is missing: ${one.skipped}`),
    ...(not_covered.length === 0
      ? []
      : [
          `Not covered: ${not_covered.map(({ path, why }) => `${path} (${why.replace("_", " ")})`).join(", ")}`,
        ]),
  ];
}

export function formatStat({ files, totals }: ChangesReply, columns: number): string[] {
  const rows = files.map((file) => [
    describePath(file),
    describeSize(file),
    drawBar(file),
    describeTurns(file),
  ]);
  const count = `${totals.files} ${totals.files === 1 ? "file" : "files"} changed, +${totals.additions} -${totals.deletions}`;
  return [...formatTable(rows, columns), count];
}

function describePath({ path, old_path, status, new_mode }: ChangedFile): string {
  const mode = status === "modified" && new_mode !== undefined ? ` (mode ${new_mode})` : "";
  return old_path === undefined ? `${path}${mode}` : `${old_path} → ${path}`;
}

function describeSize({ additions, deletions, too_large, submodule, binary }: ChangedFile): string {
  if (too_large === true) return "too large";
  if (submodule === true) return "repository";
  if (binary === true) return "binary";
  return `+${additions ?? 0} -${deletions ?? 0}`;
}

function drawBar({ additions = 0, deletions = 0 }: ChangedFile): string {
  const scale = Math.min(1, MAX_BAR / Math.max(1, additions + deletions));
  return "+".repeat(Math.ceil(additions * scale)) + "-".repeat(Math.ceil(deletions * scale));
}

function describeTurns({ turns, status }: ChangedFile): string {
  const who = turns.length === 0 ? "between turns" : `turn ${turns.join(", ")}`;
  return status === "modified" ? who : `${status.replace("_", " ")}, ${who}`;
}

const STYLES: Readonly<Record<string, Style>> = { add: "green", delete: "red", context: "reset" };
const SIGNS = { add: "+", delete: "-", context: " " } as const;

async function printFile(output: Output, file: ChangedFile, changes: FileChangesReply): Promise<void> {
  const { path, old_path = path, status } = file;
  await output.styledLine("bold", `--- ${status === "added" ? "/dev/null" : `a/${sanitizeLine(old_path)}`}`);
  await output.styledLine("bold", `+++ ${status === "deleted" ? "/dev/null" : `b/${sanitizeLine(path)}`}`);
  if (changes.hunks.length === 0) await output.line(`(${describeSize(file)})`);
  for (const hunk of changes.hunks) await printHunk(output, hunk);
  if (changes.truncated === true) await output.line("(the rest is omitted)");
}

async function printHunk(output: Output, hunk: Hunk): Promise<void> {
  const { old_start, old_lines, new_start, new_lines, section } = hunk;
  const head = `@@ -${old_start},${old_lines} +${new_start},${new_lines} @@`;
  await output.styledLine("cyan", section === undefined ? head : `${head} ${sanitizeLine(section)}`);
  for (const { kind, text, no_newline } of hunk.lines) {
    const line = `${SIGNS[kind]}${text.replace(/\r$/, "")}`;
    if (kind === "context") await output.line(line);
    else await output.styledLine(STYLES[kind] ?? "reset", line);
    if (no_newline === true) await output.line("\\ No newline at end of file");
  }
}

const WORDS = { restore: "restore", create: "bring back", delete: "delete", refused: "refused" } as const;

export function formatUndone({ files }: Pick<UndoReply, "files">): string[] {
  return files.map(({ path, action, reason }: UndoneFile) => {
    const why = reason === undefined ? "" : `: ${sanitizeLine(reason)}`;
    return `${WORDS[action]} ${sanitizeLine(path)}${why}`;
  });
}

function explainBlocked({ files }: UndoReply, refused: readonly UndoneFile[]): string {
  if (files.length === 0) return "Nothing to undo: the files already have their old content";
  const rest = files.length > refused.length ? "name the other files with --files, or " : "";
  return `Nothing was changed, because ${refused.length} of ${files.length} files cannot be undone; ${rest}use --force to overwrite later changes`;
}

function formatOutcome({ done, turn, files, checkpoint, conversation }: UndoReply): string[] {
  if (!done) return ["nothing was changed"];
  const count = files.filter(({ action }) => action !== "refused").length;
  const kept = `checkpoint ${checkpoint ?? "?"} has ${count === 1 ? "it as it was" : "them as they were"}`;
  return [
    count === 0
      ? `turn ${turn} and later changed no files`
      : `turn ${turn} and later are undone in ${count} ${count === 1 ? "file" : "files"}; ${kept}`,
    sanitizeLine(describeConversation(conversation)),
  ];
}
