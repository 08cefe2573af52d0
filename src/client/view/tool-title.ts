// A one-line title for a tool call: the command or file. Approvals show the full input instead.

import { isObject, type JsonObject } from "../../base/json.ts";
import { asObjects, asString } from "../../base/values.ts";
import { formatJson } from "./values.ts";

/** Input fields that identify the subject, best first. */
const MAIN_FIELDS = ["command", "file_path", "filePath", "notebook_path", "path", "pattern", "url", "query"];
/** Used if there is no main field. */
const DESCRIPTION_FIELDS = ["description", "title", "task", "agent", "prompt", "plan"];
/** Some agents run everything in a login shell. */
const SHELL_CALL = /^(?:\/\S*\/)?(?:ba|z|da)?sh -l?c (?:'([^']*)'|"([^"\\$`]*)")$/;
const SHELL = /^(?:\/\S*\/)?(?:ba|z|da)?sh$/;
const MAX_JSON_CHARS = 400;

/** One line; empty if the tool name is enough. Paths below `cwd` are shortened. */
export function makeToolTitle(input: unknown, cwd: string | undefined): string {
  if (typeof input === "string") return oneLine(unwrapShell(input));
  if (Array.isArray(input)) return oneLine(unwrapShell(toText(input))) || shortJson(input);
  if (!isObject(input)) return "";
  const text =
    findText(input, MAIN_FIELDS, cwd) ||
    changedPaths(input["changes"], cwd) ||
    patchedPaths(input["patch"]) ||
    countSteps(input["steps"]) ||
    findText(input, DESCRIPTION_FIELDS, cwd) ||
    joinQuestions(input["questions"]);
  return text === "" ? shortJson(input) : oneLine(text);
}

function findText(input: JsonObject, keys: readonly string[], cwd: string | undefined): string {
  const key = keys.find((name) => toText(input[name]) !== "");
  const text = key === undefined ? "" : toText(input[key]);
  return key?.toLowerCase().endsWith("path") ? toRelative(text, cwd) : unwrapShell(text);
}

/** `/bin/bash -lc 'npm test'` → `npm test`. */
export function unwrapShell(command: string): string {
  const [, single, double] = SHELL_CALL.exec(command) ?? [];
  return single ?? double ?? command;
}

export function toRelative(path: string, cwd: string | undefined): string {
  const isBelow = cwd !== undefined && cwd !== "/" && cwd !== "" && path.startsWith(`${cwd}/`);
  return isBelow && path.length > cwd.length + 1 ? path.slice(cwd.length + 1) : path;
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value) || !value.every((word) => typeof word === "string")) return "";
  const [shell = "", flag = "", script, ...rest] = value;
  const isShell = SHELL.test(shell) && /^-l?c$/.test(flag) && rest.length === 0;
  return isShell && script !== undefined ? script : value.join(" ");
}

function joinQuestions(questions: unknown): string {
  return asObjects(questions)
    .map(({ question }) => asString(question) ?? "")
    .filter((question) => question !== "")
    .join(" ");
}

function changedPaths(changes: unknown, cwd: string | undefined): string {
  if (!Array.isArray(changes)) return "";
  const paths = changes.map((change) => (isObject(change) ? change["path"] : undefined));
  return paths
    .filter((path) => typeof path === "string")
    .map((path) => toRelative(path, cwd))
    .join(", ");
}

/** The files of a "*** Begin Patch". */
function patchedPaths(patch: unknown): string {
  const lines =
    typeof patch === "string" ? patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm) : [];
  return [...lines].map(([, path = ""]) => path.trim()).join(", ");
}

/** Of a list of steps: "1 of 3 done". */
function countSteps(steps: unknown): string {
  const all = asObjects(steps).filter(({ status }) => typeof status === "string");
  const done = all.filter(({ status }) => status === "completed");
  return all.length === 0 ? "" : `${done.length} of ${all.length} done`;
}

function shortJson(value: object): string {
  const text = oneLine(formatJson(value));
  if (text === "{}" || text === "[]") return "";
  return text.length > MAX_JSON_CHARS ? `${text.slice(0, MAX_JSON_CHARS - 1)}…` : text;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
