// Tool calls: start, streamed input and output, end.

import { type JsonObject, tryParseJson } from "../../base/json.ts";
import { asNumber, asObject, asString, asText, defined } from "../../base/values.ts";
import { isCut } from "../../protocol/cut-calls.ts";
import { findNotRunReason, type NotRunReason, toVerdict } from "../../protocol/not-run.ts";
import type { WireFrame } from "../frames.ts";
import { type Draft, findToolAt, getEntryAt, type Moment, push, replace } from "./draft.ts";
import { appendOutput, limitInput, truncate, truncateMiddle } from "./limits.ts";
import { remember } from "./memory.ts";
import { findChanges, toChanges } from "./tool-changes.ts";
import { findExitCode, formatOutput } from "./tool-output.ts";
import { makeToolTitle } from "./tool-title.ts";
import type { FileChange, ToolEntry } from "./types.ts";
import { formatJson } from "./values.ts";

/** Tools that start a sub-agent, and the input fields that name it. */
const AGENT_TOOLS: ReadonlyMap<string, readonly string[]> = new Map([
  ["Agent", ["subagent_type", "description"]],
  ["Task", ["subagent_type", "description"]],
  ["spawn_agent", ["path", "agent_type"]],
  ["delegate_agent", ["agent"]],
]);
const UNNAMED_AGENT = "agent";
const MAX_NAME_CHARS = 200;

export function reduceToolUse(draft: Draft, frame: WireFrame, moment: Moment): void {
  const id = asText(frame["tool_use_id"]);
  if (id === undefined) return;
  const place = toKey(moment.parent, asNumber(frame["index"]));
  if (place !== undefined) remember(draft.memory.inputs, place, id);
  addCall(draft, moment, { id, name: frame["name"], input: frame["input"] });
}

/** A call in a complete message: its input is final. */
export function completeToolInput(draft: Draft, block: JsonObject, moment: Moment): void {
  const id = asText(block["id"]);
  if (id === undefined) return;
  const known = findToolAt(draft, id);
  if (known === undefined) addCall(draft, moment, { id, name: block["name"], input: block["input"] });
  else setInput(draft, known.at, known.tool, block["input"]);
}

interface Call {
  id: string;
  name: unknown;
  input: unknown;
}

/** Some models reuse ids in every answer: the id of an ended call may be a new one. */
function addCall(draft: Draft, moment: Moment, { id, name, input }: Call): void {
  const at = draft.memory.tools.get(id);
  const running = getEntryAt(draft, at);
  if (at !== undefined && running?.kind === "tool") {
    if (!isEmpty(input)) setInput(draft, at, running, input);
    return;
  }
  const word = truncate(asText(name) ?? "tool", MAX_NAME_CHARS);
  const isAsked = draft.view.requests.some(({ item_id, status }) => item_id === id && status === "pending");
  const place = push(draft, moment, {
    kind: "tool",
    tool_use_id: id,
    name: word,
    status: isAsked ? "waiting" : "running",
    ...readFacts(draft, word, input),
  });
  draft.memory.outputs.delete(id);
  if (!isAsked) draft.memory.verdicts.delete(id);
  draft.memory.tools.set(id, place);
  remember(draft.memory.calls, id, place);
}

type Facts = Pick<ToolEntry, "title" | "input" | "changes" | "agent">;

function readFacts({ limits, view }: Draft, name: string, input: unknown): Facts {
  const kept = limitInput(input, limits.maxOutput);
  const agent = findAgent(name, kept);
  return {
    input: kept,
    title: truncate(makeToolTitle(kept, view.agent.cwd ?? view.session?.cwd), limits.maxOutput),
    ...defined({
      changes: findChanges(name, kept),
      agent: agent === undefined ? undefined : truncate(agent, MAX_NAME_CHARS),
    }),
  };
}

function findAgent(name: string, input: unknown): string | undefined {
  const fields = AGENT_TOOLS.get(name);
  const values = asObject(input);
  return (
    fields?.map((field) => asText(values[field])).find((value) => value !== undefined) ??
    (fields && UNNAMED_AGENT)
  );
}

function setInput(draft: Draft, at: number, tool: ToolEntry, input: unknown): void {
  const { partialInput: _partial, ...rest } = tool;
  const facts = isEmpty(input) && !isEmpty(tool.input) ? {} : readFacts(draft, tool.name, input);
  const agent = tool.agent !== undefined && tool.agent !== UNNAMED_AGENT ? { agent: tool.agent } : {};
  replace(draft, at, { ...rest, ...facts, ...agent });
}

/** An input delta for the tool with that id, else the block with that index, else the last call. */
export function addToolInput(draft: Draft, frame: WireFrame, moment: Moment): void {
  const piece = asString(frame["partial_json"]) ?? "";
  const { memory, limits } = draft;
  const place = toKey(moment.parent, asNumber(frame["index"]));
  const id = asText(frame["item_id"]) ?? (place === undefined ? undefined : memory.inputs.get(place));
  const at = id === undefined ? findLast(draft, moment.parent) : memory.tools.get(id);
  const tool = getEntryAt(draft, at);
  if (piece === "" || at === undefined || tool?.kind !== "tool") return;
  const before = tool.partialInput ?? "";
  if (before.length >= limits.maxOutput) return;
  replace(draft, at, { ...tool, partialInput: (before + piece).slice(0, limits.maxOutput) });
}

function findLast({ memory, entries, view }: Draft, parent: string | undefined): number | undefined {
  const places = [...memory.tools.values()].filter((at) => entries[at - view.dropped]?.parent === parent);
  return places.at(-1);
}

/** `isWhole`: the complete output so far, not a delta. */
export function addOutput(draft: Draft, id: string, text: string, isWhole = false): void {
  const at = draft.memory.tools.get(id);
  const tool = getEntryAt(draft, at);
  if (at === undefined || tool?.kind !== "tool" || text === "") return;
  const { maxOutput } = draft.limits;
  const chars = isWhole ? 0 : (draft.memory.outputs.get(id) ?? 0);
  const before = isWhole ? "" : (tool.output ?? "");
  remember(draft.memory.outputs, id, chars + text.length);
  replace(draft, at, { ...tool, output: appendOutput(before, chars, text, maxOutput) });
}

/** The input was changed, for example by an approval. */
export function changeInput(draft: Draft, id: string, input: unknown): void {
  const known = findToolAt(draft, id);
  if (known !== undefined && !isEmpty(input)) setInput(draft, known.at, known.tool, input);
}

/** Changes from a source that is more accurate than the input. */
export function setChanges(draft: Draft, id: string, changes: unknown): void {
  const at = draft.memory.tools.get(id);
  const tool = getEntryAt(draft, at);
  const list: readonly FileChange[] | undefined = toChanges(changes);
  if (at !== undefined && tool?.kind === "tool" && list !== undefined)
    replace(draft, at, { ...tool, changes: list });
}

/** Marks a call as running a sub-agent. */
export function setAgent(draft: Draft, id: string, name: string | undefined): void {
  const known = findToolAt(draft, id);
  if (known === undefined || (known.tool.agent !== undefined && name === undefined)) return;
  const agent = truncate(name ?? UNNAMED_AGENT, MAX_NAME_CHARS);
  if (known.tool.agent !== agent) replace(draft, known.at, { ...known.tool, agent });
}

/** Also for results that come after the end of the turn. */
export function endTool(draft: Draft, result: JsonObject, moment: Moment): void {
  const id = asText(result["tool_use_id"]);
  if (id === undefined) return;
  const known = findToolAt(draft, id) ?? addUnknownCall(draft, id, moment);
  const { partialInput, ...tool } = known.tool;
  const output = formatOutput(result["output"] ?? result["content"]);
  const hasFailed = result["is_error"] === true;
  const exit_code = findExitCode(tool.name, output, hasFailed);
  const written = partialInput === undefined ? undefined : tryParseJson(partialInput);
  draft.memory.tools.delete(id);
  draft.memory.outputs.delete(id);
  const over: ToolEntry = {
    ...tool,
    ...(written === undefined || !isEmpty(tool.input) ? {} : readFacts(draft, tool.name, written)),
    status: "done",
    ...(output === "" ? {} : { output: truncateMiddle(output, draft.limits.maxOutput) }),
    ...defined({ exit_code, ended_at_ms: moment.at_ms }),
  };
  replace(
    draft,
    known.at,
    hasFailed ? endBadly(draft, over, isCut(output) ? "interrupted" : "withdrawn") : over,
  );
}

/** For a result whose call was not seen, because reading started in between. */
function addUnknownCall(draft: Draft, tool_use_id: string, moment: Moment): { at: number; tool: ToolEntry } {
  const name = "tool";
  const at = push(draft, moment, {
    kind: "tool",
    tool_use_id,
    name,
    title: "",
    input: undefined,
    status: "running",
  });
  remember(draft.memory.calls, tool_use_id, at);
  return { at, tool: getEntryAt(draft, at) as ToolEntry };
}

/** At the end of a turn: calls without a result did not run, or their outcome is unknown. */
export function loseTools(draft: Draft, cause: NotRunReason): void {
  for (const at of draft.memory.tools.values()) {
    const tool = getEntryAt(draft, at);
    if (tool?.kind !== "tool") continue;
    const over = endBadly(draft, tool, cause);
    replace(draft, at, over.status === "not_run" ? over : { ...tool, status: "unknown" });
  }
  draft.memory.tools.clear();
  draft.memory.inputs.clear();
  const better = draft.memory.hasCrashed ? "agent_died" : cause;
  if (better !== "withdrawn") explainWithdrawn(draft, better);
}

/** Agents withdraw requests before the reason is known; the end of the turn has it. */
function explainWithdrawn(draft: Draft, not_run: NotRunReason): void {
  const { entries, view } = draft;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry?.kind === "result") return;
    if (entry?.kind === "tool" && entry.not_run === "withdrawn")
      replace(draft, view.dropped + index, { ...entry, not_run });
  }
}

export function setWaiting(draft: Draft, id: string, isWaiting: boolean): void {
  const at = draft.memory.tools.get(id);
  const tool = getEntryAt(draft, at);
  const status = isWaiting ? "waiting" : "running";
  if (at !== undefined && tool?.kind === "tool" && tool.status !== status)
    replace(draft, at, { ...tool, status });
}

/** Applies a request update. `waited`: additional time spent waiting for the user. */
export function judgeTool(
  draft: Draft,
  id: string,
  request: Parameters<typeof toVerdict>[0] & { request_id: string },
  waited: number,
): void {
  const verdicts = new Map(draft.memory.verdicts.get(id));
  remember(draft.memory.verdicts, id, verdicts.set(request.request_id, toVerdict(request)));
  const known = findToolAt(draft, id);
  if (known === undefined) return;
  const waited_ms = (known.tool.waited_ms ?? 0) + Math.max(0, asNumber(waited) ?? 0);
  const tool = waited_ms > 0 ? { ...known.tool, waited_ms } : known.tool;
  const { status, not_run } = tool;
  // The answer may come after the result it explains.
  const isBad = status === "failed" || status === "not_run";
  replace(draft, known.at, isBad ? endBadly(draft, tool, not_run ?? "withdrawn") : tool);
}

/** A call that failed or was not allowed to run. */
function endBadly(draft: Draft, tool: ToolEntry, cause: NotRunReason): ToolEntry {
  const { not_run: _, ...rest } = tool;
  const verdicts = draft.memory.verdicts.get(tool.tool_use_id)?.values() ?? [];
  const reason = findNotRunReason(verdicts, draft.memory.hasCrashed ? "agent_died" : cause);
  return reason === undefined
    ? { ...rest, status: "failed" }
    : { ...rest, status: "not_run", not_run: reason };
}

function toKey(parent: string | undefined, index: number | undefined): string | undefined {
  return index === undefined ? undefined : formatJson([parent ?? null, index]);
}

function isEmpty(input: unknown): boolean {
  if (input === undefined || input === null || input === "") return true;
  return typeof input === "object" && Object.keys(input).length === 0;
}
