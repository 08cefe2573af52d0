// Keys for "for this session": exactly what a person was shown. Neither call ids nor what happens to arrive before the
// request are part of a key: opencode 1.18 sends the input of a call sometimes before it asks, sometimes after. Pure.
import type { JsonObject } from "../../base/json.ts";
import { objectOf, objectsOf, stringOf, textOf } from "../values.ts";
import type { Tool } from "./state.ts";
import { changesOf, hasInput, nameOf } from "./tools.ts";

/** Beside a command: words for people, and how long it may take. In another tool's input they are input. */
const ASIDES = ["description", "timeout"];

/** Undefined: too little is known to recognise it. A title alone may be cut short. */
export function ruleOf(
  tool: Tool,
  params: JsonObject,
  { cwd, path }: { cwd: string; path: readonly string[] },
): string | undefined {
  const { kind = "", title = "", locations } = tool;
  const changes = changesOf(tool);
  if (!hasInput(tool.input) && changes.length === 0) return undefined;
  const { command, ...rest } = objectOf(tool.input);
  if (kind === "execute" && command !== undefined) {
    const others = omit(rest, [...ASIDES, "cwd", "workdir"]);
    return keyOf(["command", nameOf(tool), command, directoryOf(tool, cwd), subjectOf(tool, path), others]);
  }
  const input = withoutRepeats(tool, objectOf(objectOf(params["toolCall"])["rawInput"]));
  if (changes.length > 0) return keyOf([kind, nameOf(tool), changes, input]);
  return keyOf([kind, nameOf(tool), title, locations, input]);
}

/**
 * What a title says beside the command and its description: codex-acp asks for network access under the id of a command.
 * A short command may be a part of other words, so what is left of the title counts.
 */
function subjectOf({ title = "", input }: Tool, path: readonly string[]): string {
  const { command, description } = objectOf(input);
  const shown = Array.isArray(command) ? command.join(" ") : String(command);
  // What is allowed is allowed to every agent of the session.
  const asker = path.map((name) => `${name} › `).join("");
  const said = title.startsWith(asker) ? title.slice(asker.length) : title;
  return said === description ? "" : said.replace(shown, "");
}

/** Where a command runs. */
export function directoryOf({ input }: Tool, cwd: string): string {
  const { cwd: own, workdir } = objectOf(input);
  const told = textOf(own) ?? textOf(workdir) ?? cwd;
  return told.startsWith("/") ? told : `${cwd}/${told}`;
}

/** The input without what was sent before the request and only repeats it (`filePath` for `filepath`, the new text of a diff). */
function withoutRepeats(tool: Tool, asked: JsonObject): unknown {
  if (!hasInput(asked) && changesOf(tool).length === 0) return tool.input;
  const values = [...Object.values(asked).flat(), ...tool.locations];
  const texts = objectsOf(tool.content).flatMap(({ oldText, newText }) => [
    stringOf(oldText) ?? "",
    stringOf(newText) ?? "",
  ]);
  const isRepeat = (value: unknown): boolean =>
    values.includes(value) || (typeof value === "string" && texts.some((text) => text.includes(value)));
  const repeats = Object.entries(objectOf(tool.input)).flatMap(([name, value]) =>
    !(name in asked) && isRepeat(value) ? [name] : [],
  );
  return omit(objectOf(tool.input), repeats);
}

function omit(input: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)));
}

function keyOf(parts: unknown): string {
  return JSON.stringify(sorted(parts));
}

/** The order of keys says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, item]) => [key, sorted(item)]);
}
