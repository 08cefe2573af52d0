// Keys for "for this session": exactly what the user was shown. Call ids and data that may arrive before or after the
// request are not part of a key: opencode 1.18 sends a call's input at either time. Pure.

import type { JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asString, asText } from "../../base/values.ts";
import type { Tool } from "./state.ts";
import { findName, hasInput, readChanges } from "./tools.ts";

/** Next to a command: text for users, and its timeout. In another tool's input they are input. */
const ASIDES = ["description", "timeout"];

/** Undefined: not enough to recognize it. A title alone may be truncated. */
export function makeRule(
  tool: Tool,
  params: JsonObject,
  { cwd, path }: { cwd: string; path: readonly string[] },
): string | undefined {
  const { kind = "", title = "", locations } = tool;
  const changes = readChanges(tool);
  if (!hasInput(tool.input) && changes.length === 0) return undefined;
  const { command, ...rest } = asObject(tool.input);
  if (kind === "execute" && command !== undefined) {
    const others = omit(rest, [...ASIDES, "cwd", "workdir"]);
    return toKey([
      "command",
      findName(tool),
      command,
      findDirectory(tool, cwd),
      findSubject(tool, path),
      others,
    ]);
  }
  const input = withoutRepeats(tool, asObject(asObject(params["toolCall"])["rawInput"]));
  if (changes.length > 0) return toKey([kind, findName(tool), changes, input]);
  return toKey([kind, findName(tool), title, locations, input]);
}

/**
 * The part of a title besides the command and its description: codex-acp asks for network access under the id of a
 * command. A short command may be part of other words, so the rest of the title counts.
 */
function findSubject({ title = "", input }: Tool, path: readonly string[]): string {
  const { command, description } = asObject(input);
  const shown = Array.isArray(command) ? command.join(" ") : String(command);
  // A grant applies to every agent of the session.
  const asker = path.map((name) => `${name} › `).join("");
  const said = title.startsWith(asker) ? title.slice(asker.length) : title;
  return said === description ? "" : said.replace(shown, "");
}

/** Where a command runs. */
export function findDirectory({ input }: Tool, cwd: string): string {
  const { cwd: own, workdir } = asObject(input);
  const reported = asText(own) ?? asText(workdir) ?? cwd;
  return reported.startsWith("/") ? reported : `${cwd}/${reported}`;
}

/**
 * The input without parts that were sent before the request and only repeat it (`filePath` for `filepath`, the new text
 * of a diff).
 */
function withoutRepeats(tool: Tool, asked: JsonObject): unknown {
  if (!hasInput(asked) && readChanges(tool).length === 0) return tool.input;
  const values = [...Object.values(asked).flat(), ...tool.locations];
  const texts = asObjects(tool.content).flatMap(({ oldText, newText }) => [
    asString(oldText) ?? "",
    asString(newText) ?? "",
  ]);
  const isRepeat = (value: unknown): boolean =>
    values.includes(value) || (typeof value === "string" && texts.some((text) => text.includes(value)));
  const repeats = Object.entries(asObject(tool.input)).flatMap(([name, value]) =>
    !(name in asked) && isRepeat(value) ? [name] : [],
  );
  return omit(asObject(tool.input), repeats);
}

function omit(input: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)));
}

function toKey(parts: unknown): string {
  return JSON.stringify(sortKeys(parts));
}

/** Key order is irrelevant. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, item]) => [key, sortKeys(item)]);
}
