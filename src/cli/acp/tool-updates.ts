// A tool call as an editor shows it: kind, title, files and changes. Pure.
import { resolve } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { cutExcerpt } from "../../base/excerpt.ts";
import { isObject } from "../../base/json.ts";
import { asString } from "../../base/values.ts";
import { findChanges } from "../../client/view/tool-changes.ts";
import { makeToolTitle } from "../../client/view/tool-title.ts";
import type { FileChange } from "../../protocol/requests.ts";

/** Editors close the connection if a message is too large, so every part is bounded. */
const MAX_TEXT_CHARS = 200_000;
const MAX_INPUT_CHARS = 200_000;
const MAX_TITLE_CHARS = 200;

/** By the words of a tool's name, in any agent; the first that fits. */
const KINDS: readonly (readonly [RegExp, ToolKind])[] = [
  [/bash|shell|exec|command|terminal/i, "execute"],
  [/edit|write|patch|create|replace/i, "edit"],
  [/delete|remove/i, "delete"],
  [/move|rename/i, "move"],
  [/fetch|web|http/i, "fetch"],
  [/grep|glob|search|find/i, "search"],
  [/read|^ls$|list|view|open/i, "read"],
  [/exit_?plan_?mode|switch_?mode/i, "switch_mode"],
  [/task|agent|think|plan|todo|delegate/i, "think"],
];

export interface ShownCall {
  name: string;
  input: unknown;
  cwd: string | undefined;
}

export function describeCall({ name, input, cwd }: ShownCall): {
  title: string;
  kind: ToolKind;
  rawInput: unknown;
  locations: ToolCallLocation[];
} {
  const title = makeToolTitle(input, cwd);
  return {
    // An input that is shown as JSON does not say what is done with it.
    title: limitLine(title === "" ? name : /^[[{]/.test(title) ? `${name} ${title}` : title),
    kind: chooseKind(name),
    rawInput: limitInput(input),
    locations: findLocations(name, input, cwd),
  };
}

export function chooseKind(name: string): ToolKind {
  // "claudecode.Bash", "mcp__server__read_file"
  const own = name.split(/\.|__/).at(-1) ?? name;
  return KINDS.find(([words]) => words.test(own))?.[1] ?? "other";
}

function findLocations(name: string, input: unknown, cwd: string | undefined): ToolCallLocation[] {
  const paths = findChanges(name, input)?.map(({ path }) => path) ?? [];
  const fields = isObject(input)
    ? [input["file_path"], input["filePath"], input["notebook_path"], input["path"]]
    : [];
  const path = fields.map(asString).find((field) => field !== undefined && field !== "");
  const all = paths.length > 0 ? paths : path === undefined ? [] : [path];
  return [...new Set(all)].map((one) => ({ path: toAbsolute(one, cwd) }));
}

/** The changed lines with their context, as the two texts that editors compare. */
export function toDiffs(changes: readonly FileChange[], cwd: string | undefined): ToolCallContent[] {
  return changes.flatMap((change): ToolCallContent[] => {
    const { path, kind, diff, move_path } = change;
    const to = toAbsolute(move_path ?? path, cwd);
    if (diff === undefined)
      return [toText(`${kind} ${path}${move_path === undefined ? "" : ` → ${move_path}`}`)];
    if (diff.length > MAX_TEXT_CHARS) return [toText(`${path}: the change is too large to show`)];
    const { oldText, newText } = splitDiff(diff);
    const isNew = kind === "add" || kind === "overwrite";
    return [{ type: "diff", path: to, oldText: isNew && oldText === "" ? null : oldText, newText }];
  });
}

function splitDiff(diff: string): { oldText: string; newText: string } {
  const before: string[] = [];
  const after: string[] = [];
  for (const line of diff.split("\n")) {
    if (/^(?:@@|diff --git |--- |\+\+\+ |index |\\ No newline)/.test(line)) continue;
    const text = line.slice(1);
    if (!line.startsWith("+")) before.push(text);
    if (!line.startsWith("-")) after.push(text);
  }
  return { oldText: before.join("\n"), newText: after.join("\n") };
}

export function toText(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: cutExcerpt(text, MAX_TEXT_CHARS) } };
}

export function limitLine(text: string): string {
  return cutExcerpt(text.replace(/\s+/g, " ").trim(), MAX_TITLE_CHARS);
}

/** An input that is too large is replaced by its beginning. */
export function limitInput(input: unknown): unknown {
  const json = JSON.stringify(input) ?? "";
  return json.length <= MAX_INPUT_CHARS ? input : { cut: cutExcerpt(json, MAX_INPUT_CHARS) };
}

function toAbsolute(path: string, cwd: string | undefined): string {
  return cwd === undefined ? path : resolve(cwd, path);
}
