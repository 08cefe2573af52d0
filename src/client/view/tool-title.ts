// A tool call in a line for people: which command, which file. Not for decisions: those see the input itself.
import { isObject, type JsonObject } from "../../base/json.ts";
import { jsonText, objectsOf, stringOf } from "./values.ts";

/** Fields of an input that say what it is about: the best first. */
const TELLING = ["command", "file_path", "filePath", "notebook_path", "path", "pattern", "url", "query"];
/** Where there are none of those. */
const DESCRIBING = ["description", "title", "task", "agent", "prompt", "plan"];
/** Some agents run everything in a login shell. */
const SHELL_CALL = /^(?:\/\S*\/)?(?:ba|z|da)?sh -l?c (?:'([^']*)'|"([^"\\$`]*)")$/;
const SHELL = /^(?:\/\S*\/)?(?:ba|z|da)?sh$/;
const MAX_JSON_CHARS = 400;

/** One line; empty when the name says it all. `cwd`: what lies below it is named from there. */
export function toolTitle(input: unknown, cwd: string | undefined): string {
  if (typeof input === "string") return oneLine(unwrapped(input));
  if (Array.isArray(input)) return oneLine(unwrapped(textOf(input))) || shortJson(input);
  if (!isObject(input)) return "";
  const text =
    firstOf(input, TELLING, cwd) ||
    changedPaths(input["changes"], cwd) ||
    firstOf(input, DESCRIBING, cwd) ||
    asked(input["questions"]);
  return text === "" ? shortJson(input) : oneLine(text);
}

function firstOf(input: JsonObject, keys: readonly string[], cwd: string | undefined): string {
  const key = keys.find((name) => textOf(input[name]) !== "");
  const text = key === undefined ? "" : textOf(input[key]);
  return key?.toLowerCase().endsWith("path") ? relative(text, cwd) : unwrapped(text);
}

/** `/bin/bash -lc 'npm test'` → `npm test`. */
export function unwrapped(command: string): string {
  const [, single, double] = SHELL_CALL.exec(command) ?? [];
  return single ?? double ?? command;
}

export function relative(path: string, cwd: string | undefined): string {
  const isBelow = cwd !== undefined && cwd !== "/" && cwd !== "" && path.startsWith(`${cwd}/`);
  return isBelow && path.length > cwd.length + 1 ? path.slice(cwd.length + 1) : path;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value) || !value.every((word) => typeof word === "string")) return "";
  const [shell = "", flag = "", script, ...rest] = value;
  const isShell = SHELL.test(shell) && /^-l?c$/.test(flag) && rest.length === 0;
  return isShell && script !== undefined ? script : value.join(" ");
}

function asked(questions: unknown): string {
  return objectsOf(questions)
    .map(({ question }) => stringOf(question) ?? "")
    .filter((question) => question !== "")
    .join(" ");
}

function changedPaths(changes: unknown, cwd: string | undefined): string {
  if (!Array.isArray(changes)) return "";
  const paths = changes.map((change) => (isObject(change) ? change["path"] : undefined));
  return paths
    .filter((path) => typeof path === "string")
    .map((path) => relative(path, cwd))
    .join(", ");
}

function shortJson(value: object): string {
  const text = oneLine(jsonText(value));
  if (text === "{}" || text === "[]") return "";
  return text.length > MAX_JSON_CHARS ? `${text.slice(0, MAX_JSON_CHARS - 1)}…` : text;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
