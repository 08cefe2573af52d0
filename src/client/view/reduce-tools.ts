// Tool calls: the call, what comes of its input and its output meanwhile, and its end.
import type { JsonObject } from "../../base/json.ts";
import { isCut } from "../../protocol/cut-calls.ts";
import { type NotRunReason, notRunReason, verdictOf } from "../../protocol/not-run.ts";
import type { WireFrame } from "../frames.ts";
import { type Draft, entryAt, type Moment, push, replace, toolAt } from "./draft.ts";
import { appendOutput, boundedInput, edgesOf, headOf } from "./limits.ts";
import { remember } from "./memory.ts";
import { changesIn, toChanges } from "./tool-changes.ts";
import { exitCodeIn, outputText } from "./tool-output.ts";
import { toolTitle } from "./tool-title.ts";
import type { FileChange, ToolEntry } from "./types.ts";
import { jsonText, numberOf, objectOf, optional, stringOf, wordOf } from "./values.ts";

/** What starts a sub-agent, and the field of its input that names it. */
const AGENT_TOOLS: ReadonlyMap<string, readonly string[]> = new Map([
  ["Agent", ["subagent_type", "description"]],
  ["Task", ["subagent_type", "description"]],
  ["spawn_agent", ["path", "agent_type"]],
  ["delegate_agent", ["agent"]],
]);
const SOME_AGENT = "agent";
const MAX_NAME_CHARS = 200;

export function reduceToolUse(draft: Draft, frame: WireFrame, moment: Moment): void {
  const id = wordOf(frame["tool_use_id"]);
  if (id === undefined) return;
  const place = keyOf(moment.parent, numberOf(frame["index"]));
  if (place !== undefined) remember(draft.memory.inputs, place, id);
  tellCall(draft, moment, { id, name: frame["name"], input: frame["input"] });
}

/** A call in a whole message: its input is complete. One that was announced before is not announced again. */
export function tellToolInput(draft: Draft, block: JsonObject, moment: Moment): void {
  const id = wordOf(block["id"]);
  if (id === undefined) return;
  const known = toolAt(draft, id);
  if (known === undefined) tellCall(draft, moment, { id, name: block["name"], input: block["input"] });
  else setInput(draft, known.at, known.tool, block["input"]);
}

interface Call {
  id: string;
  name: unknown;
  input: unknown;
}

/** Some models count their calls anew in every answer: the id of one that has ended is that of another one. */
function tellCall(draft: Draft, moment: Moment, { id, name, input }: Call): void {
  const at = draft.memory.tools.get(id);
  const running = entryAt(draft, at);
  if (at !== undefined && running?.kind === "tool") {
    if (!isEmpty(input)) setInput(draft, at, running, input);
    return;
  }
  const word = headOf(wordOf(name) ?? "tool", MAX_NAME_CHARS);
  const isAsked = draft.view.requests.some(({ item_id, status }) => item_id === id && status === "pending");
  const place = push(draft, moment, {
    kind: "tool",
    tool_use_id: id,
    name: word,
    status: isAsked ? "waiting" : "running",
    ...factsOf(draft, word, input),
  });
  draft.memory.outputs.delete(id);
  if (!isAsked) draft.memory.verdicts.delete(id);
  draft.memory.tools.set(id, place);
  remember(draft.memory.calls, id, place);
}

type Facts = Pick<ToolEntry, "title" | "input" | "changes" | "agent">;

function factsOf({ limits, view }: Draft, name: string, input: unknown): Facts {
  const kept = boundedInput(input, limits.maxOutput);
  const agent = agentIn(name, kept);
  return {
    input: kept,
    title: headOf(toolTitle(kept, view.agent.cwd ?? view.session?.cwd), limits.maxOutput),
    ...optional("changes", changesIn(name, kept)),
    ...optional("agent", agent === undefined ? undefined : headOf(agent, MAX_NAME_CHARS)),
  };
}

function agentIn(name: string, input: unknown): string | undefined {
  const fields = AGENT_TOOLS.get(name);
  const values = objectOf(input);
  return (
    fields?.map((field) => wordOf(values[field])).find((value) => value !== undefined) ??
    (fields && SOME_AGENT)
  );
}

function setInput(draft: Draft, at: number, tool: ToolEntry, input: unknown): void {
  const { partialInput: _partial, ...rest } = tool;
  const facts = isEmpty(input) && !isEmpty(tool.input) ? {} : factsOf(draft, tool.name, input);
  const agent = tool.agent !== undefined && tool.agent !== SOME_AGENT ? { agent: tool.agent } : {};
  replace(draft, at, { ...rest, ...facts, ...agent });
}

/** A piece of the input, for the tool of that id, else the block of that index, else the one that was called last. */
export function addToolInput(draft: Draft, frame: WireFrame, moment: Moment): void {
  const piece = stringOf(frame["partial_json"]) ?? "";
  const { memory, limits } = draft;
  const place = keyOf(moment.parent, numberOf(frame["index"]));
  const id = wordOf(frame["item_id"]) ?? (place === undefined ? undefined : memory.inputs.get(place));
  const at = id === undefined ? lastOf(draft, moment.parent) : memory.tools.get(id);
  const tool = entryAt(draft, at);
  if (piece === "" || at === undefined || tool?.kind !== "tool") return;
  const before = tool.partialInput ?? "";
  if (before.length >= limits.maxOutput) return;
  replace(draft, at, { ...tool, partialInput: (before + piece).slice(0, limits.maxOutput) });
}

function lastOf({ memory, entries, view }: Draft, parent: string | undefined): number | undefined {
  const places = [...memory.tools.values()].filter((at) => entries[at - view.dropped]?.parent === parent);
  return places.at(-1);
}

/** What a tool printed so far. `isWhole`: all of it, not a piece. */
export function addOutput(draft: Draft, id: string, text: string, isWhole = false): void {
  const at = draft.memory.tools.get(id);
  const tool = entryAt(draft, at);
  if (at === undefined || tool?.kind !== "tool" || text === "") return;
  const { maxOutput } = draft.limits;
  const chars = isWhole ? 0 : (draft.memory.outputs.get(id) ?? 0);
  const before = isWhole ? "" : (tool.output ?? "");
  remember(draft.memory.outputs, id, chars + text.length);
  replace(draft, at, { ...tool, output: appendOutput(before, chars, text, maxOutput) });
}

/** Its input turned out to be another one. */
export function changeInput(draft: Draft, id: string, input: unknown): void {
  const known = toolAt(draft, id);
  if (known !== undefined && !isEmpty(input)) setInput(draft, known.at, known.tool, input);
}

/** What it changes, as somebody says who knows better than its input does. */
export function setChanges(draft: Draft, id: string, changes: unknown): void {
  const at = draft.memory.tools.get(id);
  const tool = entryAt(draft, at);
  const list: readonly FileChange[] | undefined = toChanges(changes);
  if (at !== undefined && tool?.kind === "tool" && list !== undefined)
    replace(draft, at, { ...tool, changes: list });
}

/** A sub-agent works for this call. */
export function setAgent(draft: Draft, id: string, name: string | undefined): void {
  const known = toolAt(draft, id);
  if (known === undefined || (known.tool.agent !== undefined && name === undefined)) return;
  const agent = headOf(name ?? SOME_AGENT, MAX_NAME_CHARS);
  if (known.tool.agent !== agent) replace(draft, known.at, { ...known.tool, agent });
}

/** A result, also one that comes after the turn was over. */
export function endTool(draft: Draft, result: JsonObject, moment: Moment): void {
  const id = wordOf(result["tool_use_id"]);
  if (id === undefined) return;
  const known = toolAt(draft, id) ?? unheardOf(draft, id, moment);
  const { partialInput, ...tool } = known.tool;
  const output = outputText(result["output"] ?? result["content"]);
  const hasFailed = result["is_error"] === true;
  const exit_code = exitCodeIn(tool.name, output, hasFailed);
  const written = partialInput === undefined ? undefined : parsed(partialInput);
  draft.memory.tools.delete(id);
  draft.memory.outputs.delete(id);
  const over: ToolEntry = {
    ...tool,
    ...(written === undefined || !isEmpty(tool.input) ? {} : factsOf(draft, tool.name, written)),
    status: "done",
    ...(output === "" ? {} : { output: edgesOf(output, draft.limits.maxOutput) }),
    ...optional("exit_code", exit_code),
    ...optional("ended_at_ms", moment.at_ms),
  };
  replace(
    draft,
    known.at,
    hasFailed ? ended(draft, over, isCut(output) ? "interrupted" : "withdrawn") : over,
  );
}

/** Who begins to read in the middle has not seen the call. */
function unheardOf(draft: Draft, tool_use_id: string, moment: Moment): { at: number; tool: ToolEntry } {
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
  return { at, tool: entryAt(draft, at) as ToolEntry };
}

/** The turn is over: a call without an end was never allowed, or nobody says what became of it. */
export function loseTools(draft: Draft, cause: NotRunReason): void {
  for (const at of draft.memory.tools.values()) {
    const tool = entryAt(draft, at);
    if (tool?.kind !== "tool") continue;
    const over = ended(draft, tool, cause);
    replace(draft, at, over.status === "not_run" ? over : { ...tool, status: "unknown" });
  }
  draft.memory.tools.clear();
  draft.memory.inputs.clear();
  const better = draft.memory.hasCrashed ? "agent_died" : cause;
  if (better !== "withdrawn") explainWithdrawn(draft, better);
}

/** An agent takes its requests back before it says why: the end of the turn does. */
function explainWithdrawn(draft: Draft, not_run: NotRunReason): void {
  const { entries, view } = draft;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry?.kind === "result") return;
    if (entry?.kind === "tool" && entry.not_run === "withdrawn")
      replace(draft, view.dropped + index, { ...entry, not_run });
  }
}

/** Whether it waits for a person. */
export function setWaiting(draft: Draft, id: string, isWaiting: boolean): void {
  const at = draft.memory.tools.get(id);
  const tool = entryAt(draft, at);
  const status = isWaiting ? "waiting" : "running";
  if (at !== undefined && tool?.kind === "tool" && tool.status !== status)
    replace(draft, at, { ...tool, status });
}

/** A step of a request about it. `waited`: how much longer it has waited for a person. */
export function judgeTool(
  draft: Draft,
  id: string,
  request: Parameters<typeof verdictOf>[0] & { request_id: string },
  waited: number,
): void {
  const verdicts = new Map(draft.memory.verdicts.get(id));
  remember(draft.memory.verdicts, id, verdicts.set(request.request_id, verdictOf(request)));
  const known = toolAt(draft, id);
  if (known === undefined) return;
  const waited_ms = (known.tool.waited_ms ?? 0) + Math.max(0, numberOf(waited) ?? 0);
  const tool = waited_ms > 0 ? { ...known.tool, waited_ms } : known.tool;
  const { status, not_run } = tool;
  // The answer may be told after the result that it explains.
  const isBad = status === "failed" || status === "not_run";
  replace(draft, known.at, isBad ? ended(draft, tool, not_run ?? "withdrawn") : tool);
}

/** A call that ended badly: it failed, or it was never allowed to run. */
function ended(draft: Draft, tool: ToolEntry, cause: NotRunReason): ToolEntry {
  const { not_run: _, ...rest } = tool;
  const verdicts = draft.memory.verdicts.get(tool.tool_use_id)?.values() ?? [];
  const reason = notRunReason(verdicts, draft.memory.hasCrashed ? "agent_died" : cause);
  return reason === undefined
    ? { ...rest, status: "failed" }
    : { ...rest, status: "not_run", not_run: reason };
}

function keyOf(parent: string | undefined, index: number | undefined): string | undefined {
  return index === undefined ? undefined : jsonText([parent ?? null, index]);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // It was cut off in the middle: what is known of it stays.
    return undefined;
  }
}

function isEmpty(input: unknown): boolean {
  if (input === undefined || input === null || input === "") return true;
  return typeof input === "object" && Object.keys(input).length === 0;
}
