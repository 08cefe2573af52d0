// Tool calls, known by their toolCallId from wherever it is named first: `tool_call`, `tool_call_update` or a request for
// permission. Each is told once when its input is known (or it runs), and has exactly one result.
import { isObject, type JsonObject } from "../../base/json.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { objectOf, objectsOf, optional, textOf } from "../values.ts";
import { type Change, changesIn } from "./diffs.ts";
import { type AcpState, notice, type Report, type Tool, toReports } from "./state.ts";
import { parentIn } from "./sub-agents.ts";
import { contentOutput, outputOf, terminalOf } from "./tool-output.ts";

const FINAL: ReadonlySet<unknown> = new Set(["completed", "failed"]);
const RUNNING: ReadonlySet<unknown> = new Set(["in_progress", "completed", "failed"]);
/** Late updates are told apart from new tools for so many. */
const REMEMBERED = 1000;
const MAX_TERMINAL_CHARS = 1_000_000;
/** Tools that replace a file as a whole: write_file (demian), write (OpenCode), Write (Claude Code). */
const WRITES_WHOLE = /^(?:write|write_?file|create_?file)$/i;
const NAME = /^[A-Za-z_][\w-]*$/;

export function updateTool(state: AcpState, update: JsonObject): Report[] {
  const id = textOf(update["toolCallId"]);
  if (id === undefined) return [notice(state, "acp_unknown_tool_call", { data: update })];
  // Some models call the first tool of every answer "call_0": a new call by an old name is a new tool.
  const isAnew = update["sessionUpdate"] === "tool_call" && state.turn !== undefined;
  if (state.doneTools.has(id) && !isAnew) return lateUpdate(state, id, update);
  const tool = mergeTool(state, id, update);
  const reports: Report[] = [];
  const isKnown = hasInput(tool.input) || RUNNING.has(tool.status);
  if (tool.told === undefined && isKnown) reports.push(...toReports([useTool(state, tool)]));
  else if (tool.told !== undefined) reports.push(...newInput(state, tool));
  const { printed } = terminalOf(update);
  if (printed !== undefined) {
    const data = { tool_use_id: id, text: printed };
    reports.push(notice(state, "tool_output", { data, parent: tool.parent }));
  }
  if (FINAL.has(tool.status)) return [...reports, ...toReports([finishTool(state, tool, update)])];
  return [...reports, ...progress(state, tool, update)];
}

/** The tool that a request is about. It is told now, whatever is known of it. */
export function askAbout(state: AcpState, call: JsonObject): { tool: Tool | undefined; reports: Report[] } {
  const id = textOf(call["toolCallId"]);
  if (id === undefined) return { tool: undefined, reports: [] };
  // Some tell less here than they did before.
  const known = objectOf(state.tools.get(id)?.input);
  const rawInput = isObject(call["rawInput"]) ? { ...known, ...call["rawInput"] } : call["rawInput"];
  const tool = mergeTool(state, id, { ...call, rawInput });
  const reports = tool.told === undefined ? toReports([useTool(state, tool)]) : newInput(state, tool);
  return { tool, reports };
}

/** The turn is over: what has no result by now never gets one. Those of sub-agents come first, the deepest before all. */
export function closeTools(state: AcpState, why: string): AgentEvent[] {
  const tools = [...state.tools.values()];
  const own = tools.filter(({ parent }) => parent === undefined);
  const others = tools.filter(({ parent }) => parent !== undefined).reverse();
  return [...others, ...own].flatMap((tool) => {
    const use = tool.told === undefined ? [useTool(state, tool)] : [];
    return [...use, resultOf(state, tool, { output: tool.terminal || why, is_error: true })];
  });
}

/** Works on something: silence is no wonder then. A sub-agent speaks for itself, as the agent does. */
export function isToolRunning(state: AcpState): boolean {
  return [...state.tools.values()].some(({ id, told }) => told !== undefined && !state.subAgents.has(id));
}

/** Tools that somebody was asked about: they have not begun. */
export function askedTools(state: AcpState): Set<string> {
  const ids = [...state.asks.values()].map(({ params }) =>
    textOf(objectOf(params["toolCall"])["toolCallId"]),
  );
  return new Set(ids.filter((id) => id !== undefined));
}

/** Commands of which no end was told. */
export function openCommands(state: AcpState): string[] {
  return [...state.tools.values()].flatMap(({ id, kind }) => (kind === "execute" ? [id] : []));
}

/** OpenCode tells the directory before it knows anything else. */
export function hasInput(input: unknown): boolean {
  if (typeof input === "object" && input !== null) return Object.keys(input).some((key) => key !== "cwd");
  return input !== undefined && input !== null && input !== "";
}

export function changesOf(tool: Tool): Change[] {
  return changesIn(tool.content, WRITES_WHOLE.test(nameOf(tool)));
}

function mergeTool(state: AcpState, id: string, update: JsonObject): Tool {
  const tool = state.tools.get(id) ?? newTool(id);
  state.tools.set(id, tool);
  state.doneTools.delete(id);
  const meta = objectOf(objectOf(update["_meta"])["claudeCode"]);
  tool.name = textOf(update["name"]) ?? textOf(meta["toolName"]) ?? tool.name ?? titleAsName(update);
  tool.title = textOf(update["title"]) ?? tool.title;
  tool.kind = textOf(update["kind"]) ?? tool.kind;
  tool.status = textOf(update["status"]) ?? tool.status;
  tool.parent = parentIn(state, update) ?? tool.parent;
  if (hasInput(update["rawInput"])) tool.input = update["rawInput"];
  // An update without content leaves what was there; an empty one says nothing either.
  if (Array.isArray(update["content"]) && update["content"].length > 0) tool.content = update["content"];
  const places = objectsOf(update["locations"]).flatMap(({ path }) => textOf(path) ?? []);
  if (places.length > 0) tool.locations = places;
  const { printed, exitCode } = terminalOf(update);
  tool.terminal = tailOf(tool.terminal + (printed ?? ""));
  tool.exitCode = exitCode ?? tool.exitCode;
  return tool;
}

/** Each piece was told as it came; a command may print for hours. Cut rarely: each cut copies all of it. */
function tailOf(text: string): string {
  return text.length <= 2 * MAX_TERMINAL_CHARS ? text : `[…]${text.slice(-MAX_TERMINAL_CHARS)}`;
}

function newTool(id: string): Tool {
  return {
    id,
    name: undefined,
    title: undefined,
    kind: undefined,
    status: undefined,
    input: undefined,
    content: undefined,
    locations: [],
    terminal: "",
    exitCode: undefined,
    progress: undefined,
    parent: undefined,
    hasSubAgent: false,
    told: undefined,
  };
}

/** OpenCode announces a call by the tool's name as its title, with an empty input; later the title is something else. */
function titleAsName({ rawInput, title }: JsonObject): string | undefined {
  const isAnnounced = rawInput !== undefined && rawInput !== null && !hasInput(rawInput);
  const name = textOf(title);
  return isAnnounced && name !== undefined && NAME.test(name) ? name : undefined;
}

function useTool(state: AcpState, tool: Tool): AgentEvent {
  const input = inputOf(tool);
  tool.told = JSON.stringify(input);
  return {
    type: "agent.tool_use",
    backend: state.backend,
    tool_use_id: tool.id,
    name: nameOf(tool),
    input,
    ...optional("parent_tool_use_id", tool.parent),
  };
}

export function nameOf(tool: Tool): string {
  return tool.name ?? tool.kind ?? "tool";
}

/** Some agents tell no input, only what they would show of it. */
function inputOf(tool: Tool): unknown {
  if (hasInput(tool.input)) return tool.input;
  const changes = changesOf(tool);
  return {
    ...optional("title", tool.title),
    ...(changes.length > 0 ? { changes } : {}),
    ...(tool.locations.length > 0 ? { paths: tool.locations } : {}),
  };
}

/** The call was told before its input was whole. */
function newInput(state: AcpState, tool: Tool): Report[] {
  const input = inputOf(tool);
  const told = JSON.stringify(input);
  if (told === tool.told || !hasInput(tool.input)) return [];
  tool.told = told;
  const data = { tool_use_id: tool.id, name: nameOf(tool), input };
  return [notice(state, "tool_input", { data, parent: tool.parent })];
}

/** What came before is what the tool is about to do, and not its output. A sub-agent's steps are told as what they are. */
function progress(state: AcpState, tool: Tool, update: JsonObject): Report[] {
  const { content } = update;
  if (tool.hasSubAgent) return [];
  if (tool.status !== "in_progress" || !Array.isArray(content) || content.length === 0) return [];
  const isFirst = update["sessionUpdate"] === "tool_call";
  if (isFirst || JSON.stringify(content) === JSON.stringify(tool.progress)) return [];
  tool.progress = content;
  const shown = contentOutput(content);
  if (shown === undefined) return [];
  const data = { tool_use_id: tool.id, content: shown };
  return [notice(state, "tool_progress", { data, parent: tool.parent })];
}

function finishTool(state: AcpState, tool: Tool, update: JsonObject): AgentEvent {
  const output = outputOf(update, tool);
  const is_error = tool.status === "failed" || (tool.exitCode !== undefined && tool.exitCode !== 0);
  return resultOf(state, tool, { ...optional("output", output), is_error });
}

function resultOf(state: AcpState, tool: Tool, result: { output?: unknown; is_error: boolean }): AgentEvent {
  state.tools.delete(tool.id);
  state.doneTools.add(tool.id);
  const [oldest] = state.doneTools;
  if (state.doneTools.size > REMEMBERED && oldest !== undefined) state.doneTools.delete(oldest);
  return {
    type: "agent.tool_result",
    backend: state.backend,
    tool_use_id: tool.id,
    ...optional("output", result.output),
    is_error: result.is_error,
    ...optional("parent_tool_use_id", tool.parent),
  };
}

function lateUpdate(state: AcpState, id: string, update: JsonObject): Report[] {
  const { status, content, rawOutput } = update;
  const { printed } = terminalOf(update);
  const isNews = hasInput(content) || hasInput(rawOutput) || printed !== undefined;
  if (!isNews && !FINAL.has(status)) return [];
  const data = {
    tool_use_id: id,
    ...optional("output", outputOf(update)),
    is_error: status === "failed",
  };
  return [notice(state, "late_result", { data, parent: parentIn(state, update) })];
}
