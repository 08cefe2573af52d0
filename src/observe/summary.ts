// Summarizes a row in one line: "ran `npm test` (exit 1)", "edited src/a.ts (+3 -1)", "asked: Bash: rm -rf build",
// "asked to run `rm -rf build` (not run: declined)".
import { isObject } from "../base/json.ts";
import { formatNotRun } from "../protocol/not-run.ts";
import type { Decision } from "../protocol/requests.ts";
import { toOneLine } from "./excerpt.ts";
import type { ChangeKind, ToolEvent, TurnEvent } from "./types.ts";

const MAX_CHARS = 160;
const MAX_COMMAND_CHARS = 100;
/** Input fields that describe a call best, in order. */
const HINT_FIELDS = [
  "file_path",
  "path",
  "pattern",
  "query",
  "url",
  "description",
  "prompt",
  "what",
  "command",
  "name",
  "agent",
];
/** One piece of a shell word. */
const PIECE = /^(?:'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\;&|<>()$`]+))/;
/** Some agents run everything in a login shell. */
const SHELL = /^(?:\/\S*\/)?(?:ba|z|da)?sh -l?c (.+)$/s;

interface Verbs {
  running: string;
  done: string;
  /** After "asked to". */
  asked: string;
}

const COMMAND: Verbs = { running: "running", done: "ran", asked: "run" };
const TOOL: Verbs = { running: "using", done: "used", asked: "use" };
/** Files that changed in different or unknown ways. */
const CHANGE: Verbs = { running: "changing", done: "changed", asked: "change" };
const CHANGES: Readonly<Record<ChangeKind, Verbs>> = {
  add: { running: "creating", done: "created", asked: "create" },
  overwrite: { running: "overwriting", done: "overwrote", asked: "overwrite" },
  update: { running: "editing", done: "edited", asked: "edit" },
  delete: { running: "deleting", done: "deleted", asked: "delete" },
  write: { running: "writing", done: "wrote", asked: "write" },
};

function findVerbs({ item_type, change_kind }: ToolEvent): Verbs {
  if (item_type === "commandExecution") return COMMAND;
  if (item_type === "tool") return TOOL;
  return (change_kind === undefined ? undefined : CHANGES[change_kind]) ?? CHANGE;
}

export function summarizeTool(event: ToolEvent): string {
  const verbs = findVerbs(event);
  const { not_run, phase } = event;
  const verb =
    phase === "running" ? verbs.running : not_run === undefined ? verbs.done : `asked to ${verbs.asked}`;
  const end = not_run === undefined ? describeEnd(event) : formatNotRun(not_run);
  const notes = [event.item_type === "fileChange" ? event.diff_summary : undefined, end];
  const shown = notes.filter((note) => note !== undefined).map((note) => ` (${note})`);
  return toOneLine(`${verb} ${describeObject(event)}${shown.join("")}`, MAX_CHARS);
}

export function summarizeRequest(event: ToolEvent): string {
  const { title } = readPayload(event);
  const what = typeof title === "string" ? title : (event.command ?? event.tool_name ?? "something");
  const answer = event.phase === "pre" ? "" : ` (${describeAnswer(event)})`;
  return toOneLine(`asked: ${toOneLine(what, MAX_CHARS - 30)}${answer}`, MAX_CHARS);
}

export function summarizeTurn(event: TurnEvent): string {
  switch (event.event_type) {
    case "message":
      return toOneLine(`said: ${String(readPayload(event)["text"] ?? "")}`, MAX_CHARS);
    case "started":
      return event.origin === "agent" ? "started a turn by itself" : "started a turn";
    case "completed":
      return "finished the turn";
    case "interrupted":
    case "cancelled":
      return `the turn was ${event.event_type}`;
    default:
      return toOneLine(
        `the turn failed: ${event.error_code ?? "error"}${event.error_message === undefined ? "" : `: ${event.error_message}`}`,
        MAX_CHARS,
      );
  }
}

const DECISIONS: Readonly<Record<Decision, string>> = {
  accept: "approved",
  acceptForSession: "approved for this session",
  acceptAlways: "approved permanently",
  decline: "declined",
  cancel: "declined, and the turn stopped",
};

/** How a request ended, which says more than an answer that was never delivered. */
function describeAnswer({ event_type, approval_decision: decision }: ToolEvent): string {
  if (event_type === "timeout") return "no answer";
  if (event_type === "cancelled") return "withdrawn";
  if (event_type === "interrupted") return "lost";
  return decision === undefined ? "answered" : (DECISIONS[decision as Decision] ?? decision);
}

function describeObject(event: ToolEvent): string {
  const { item_type, command, file_path, cwd, tool_name = "a tool" } = event;
  if (item_type === "commandExecution") {
    return command === undefined ? "a command" : `\`${toOneLine(unwrapShell(command), MAX_COMMAND_CHARS)}\``;
  }
  if (item_type === "fileChange") return file_path === undefined ? "files" : toRelative(file_path, cwd);
  const hint = findHint(readPayload(event)["input"], cwd);
  return hint === undefined ? tool_name : `${tool_name}: ${hint}`;
}

function describeEnd(event: ToolEvent): string | undefined {
  if (event.phase !== "post" || event.event_type === "completed") return undefined;
  if (event.event_type === "failed" && event.exit_code !== undefined) return `exit ${event.exit_code}`;
  if (event.event_type === "timeout") return "timed out";
  return event.event_type === "failed" && event.error_code === "backend_crashed"
    ? "the agent died"
    : event.event_type;
}

function findHint(input: unknown, cwd: string | undefined): string | undefined {
  if (!isObject(input)) return undefined;
  const key = HINT_FIELDS.find((name) => typeof input[name] === "string" && input[name] !== "");
  return key === undefined ? undefined : toRelative(toOneLine(String(input[key]), MAX_COMMAND_CHARS), cwd);
}

/** `/bin/bash -lc 'npm test'` → `npm test`. */
function unwrapShell(command: string): string {
  const inner = SHELL.exec(command)?.[1];
  return inner === undefined ? command : (parseShellWord(inner) ?? inner);
}

/** Parses one shell word of '…', "…" and bare pieces; undefined if it is anything else. */
function parseShellWord(text: string): string | undefined {
  let word = "";
  for (let rest = text; rest !== ""; ) {
    const [piece = "", single, double, escaped, bare] = PIECE.exec(rest) ?? [];
    if (piece === "") return undefined;
    word += single ?? double?.replace(/\\(["$`\\])/g, "$1") ?? escaped ?? bare ?? "";
    rest = rest.slice(piece.length);
  }
  return word;
}

function toRelative(path: string, cwd: string | undefined): string {
  if (cwd === undefined || cwd === "/" || !path.startsWith(`${cwd}/`)) return path;
  return path.slice(cwd.length + 1);
}

function readPayload({ raw_payload_json }: { raw_payload_json?: string }): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(raw_payload_json ?? "{}");
    return isObject(value) ? value : {};
  } catch {
    // Changed by another program; the rest of the row is still useful.
    return {};
  }
}
