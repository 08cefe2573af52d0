// Tool calls, identified by toolCallId wherever it appears first: `tool_call`, `tool_call_update` or a permission
// request. Each is emitted once when its input is known (or it runs), and has exactly one result.

import { isObject, type JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asText, defined } from "../../base/values.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { type Change, findChanges } from "./diffs.ts";
import { type AcpReport, type AcpState, reportNotice, type Tool, toReports } from "./state.ts";
import { findParent } from "./sub-agents.ts";
import { readContentOutput, readOutput, readTerminal } from "./tool-output.ts";

const FINAL: ReadonlySet<unknown> = new Set(["completed", "failed"]);
const RUNNING: ReadonlySet<unknown> = new Set(["in_progress", "completed", "failed"]);
/** How many finished tools are remembered, to recognize late updates. */
const REMEMBERED = 1000;
const MAX_TERMINAL_CHARS = 1_000_000;
/** Tools that replace a whole file: write_file (demian), write (OpenCode), Write (Claude Code). */
const WRITES_WHOLE = /^(?:write|write_?file|create_?file)$/i;
const NAME = /^[A-Za-z_][\w-]*$/;

export function updateTool(state: AcpState, update: JsonObject): AcpReport[] {
  const id = asText(update["toolCallId"]);
  if (id === undefined) return [reportNotice(state, "acp_unknown_tool_call", { data: update })];
  // Some models name the first tool of every answer "call_0": a new call with an old id is a new tool.
  const isAnew = update["sessionUpdate"] === "tool_call" && state.turn !== undefined;
  if (state.doneTools.has(id) && !isAnew) return lateUpdate(state, id, update);
  const tool = mergeTool(state, id, update);
  const reports: AcpReport[] = [];
  const isKnown = hasInput(tool.input) || RUNNING.has(tool.status);
  if (tool.reported === undefined && isKnown) reports.push(...toReports([useTool(state, tool)]));
  else if (tool.reported !== undefined) reports.push(...newInput(state, tool));
  const { printed } = readTerminal(update);
  if (printed !== undefined) {
    const data = { tool_use_id: id, text: printed };
    reports.push(reportNotice(state, "tool_output", { data, parent: tool.parent }));
  }
  if (FINAL.has(tool.status)) return [...reports, ...toReports([finishTool(state, tool, update)])];
  return [...reports, ...progress(state, tool, update)];
}

/** The tool of a request. Emitted now, whatever is known of it. */
export function askAbout(
  state: AcpState,
  call: JsonObject,
): { tool: Tool | undefined; reports: AcpReport[] } {
  const id = asText(call["toolCallId"]);
  if (id === undefined) return { tool: undefined, reports: [] };
  // Some send less here than before.
  const known = asObject(state.tools.get(id)?.input);
  const rawInput = isObject(call["rawInput"]) ? { ...known, ...call["rawInput"] } : call["rawInput"];
  const tool = mergeTool(state, id, { ...call, rawInput });
  const reports = tool.reported === undefined ? toReports([useTool(state, tool)]) : newInput(state, tool);
  return { tool, reports };
}

/** The turn is over: tools without a result get one. Those of sub-agents first, deepest first. */
export function closeTools(state: AcpState, why: string): AgentEvent[] {
  const tools = [...state.tools.values()];
  const own = tools.filter(({ parent }) => parent === undefined);
  const others = tools.filter(({ parent }) => parent !== undefined).reverse();
  return [...others, ...own].flatMap((tool) => {
    const use = tool.reported === undefined ? [useTool(state, tool)] : [];
    return [...use, makeResult(state, tool, { output: tool.terminal || why, is_error: true })];
  });
}

/** Whether it is working: silence is expected then. A sub-agent reports its own activity. */
export function isToolRunning(state: AcpState): boolean {
  return [...state.tools.values()].some(
    ({ id, reported }) => reported !== undefined && !state.subAgents.has(id),
  );
}

/** Tools with a pending request have not started. */
export function findAskedTools(state: AcpState): Set<string> {
  const ids = [...state.asks.values()].map(({ params }) =>
    asText(asObject(params["toolCall"])["toolCallId"]),
  );
  return new Set(ids.filter((id) => id !== undefined));
}

/** Commands without a reported end. */
export function openCommands(state: AcpState): string[] {
  return [...state.tools.values()].flatMap(({ id, kind }) => (kind === "execute" ? [id] : []));
}

/** OpenCode sends the directory before anything else. */
export function hasInput(input: unknown): boolean {
  if (typeof input === "object" && input !== null) return Object.keys(input).some((key) => key !== "cwd");
  return input !== undefined && input !== null && input !== "";
}

export function readChanges(tool: Tool): Change[] {
  return findChanges(tool.content, WRITES_WHOLE.test(findName(tool)));
}

function mergeTool(state: AcpState, id: string, update: JsonObject): Tool {
  const tool = state.tools.get(id) ?? newTool(id);
  state.tools.set(id, tool);
  state.doneTools.delete(id);
  const meta = asObject(asObject(update["_meta"])["claudeCode"]);
  tool.name = asText(update["name"]) ?? asText(meta["toolName"]) ?? tool.name ?? titleAsName(update);
  tool.title = asText(update["title"]) ?? tool.title;
  tool.kind = asText(update["kind"]) ?? tool.kind;
  tool.status = asText(update["status"]) ?? tool.status;
  tool.parent = findParent(state, update) ?? tool.parent;
  if (hasInput(update["rawInput"])) tool.input = update["rawInput"];
  // An update without content keeps the earlier content; so does an empty one.
  if (Array.isArray(update["content"]) && update["content"].length > 0) tool.content = update["content"];
  const places = asObjects(update["locations"]).flatMap(({ path }) => asText(path) ?? []);
  if (places.length > 0) tool.locations = places;
  const { printed, exitCode } = readTerminal(update);
  tool.terminal = keepTail(tool.terminal + (printed ?? ""));
  tool.exitCode = exitCode ?? tool.exitCode;
  return tool;
}

/** Each chunk has been emitted; a command may print for hours. Trimmed rarely, because each trim copies everything. */
function keepTail(text: string): string {
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
    reported: undefined,
  };
}

/** OpenCode announces a call with the tool's name as title and an empty input; the title changes later. */
function titleAsName({ rawInput, title }: JsonObject): string | undefined {
  const isAnnounced = rawInput !== undefined && rawInput !== null && !hasInput(rawInput);
  const name = asText(title);
  return isAnnounced && name !== undefined && NAME.test(name) ? name : undefined;
}

function useTool(state: AcpState, tool: Tool): AgentEvent {
  const input = makeInput(tool);
  tool.reported = JSON.stringify(input);
  return {
    type: "agent.tool_use",
    backend: state.backend,
    tool_use_id: tool.id,
    name: findName(tool),
    input,
    ...defined({ parent_tool_use_id: tool.parent }),
  };
}

export function findName(tool: Tool): string {
  return tool.name ?? tool.kind ?? "tool";
}

/** Some agents send no input, only what they would display. */
function makeInput(tool: Tool): unknown {
  if (hasInput(tool.input)) return tool.input;
  const changes = readChanges(tool);
  return {
    ...defined({ title: tool.title }),
    ...(changes.length > 0 ? { changes } : {}),
    ...(tool.locations.length > 0 ? { paths: tool.locations } : {}),
  };
}

/** The call was emitted before its input was complete. */
function newInput(state: AcpState, tool: Tool): AcpReport[] {
  const input = makeInput(tool);
  const reported = JSON.stringify(input);
  if (reported === tool.reported || !hasInput(tool.input)) return [];
  tool.reported = reported;
  const data = { tool_use_id: tool.id, name: findName(tool), input };
  return [reportNotice(state, "tool_input", { data, parent: tool.parent })];
}

/** Earlier content is what the tool is about to do, not its output. A sub-agent's steps are emitted separately. */
function progress(state: AcpState, tool: Tool, update: JsonObject): AcpReport[] {
  const { content } = update;
  if (tool.hasSubAgent) return [];
  if (tool.status !== "in_progress" || !Array.isArray(content) || content.length === 0) return [];
  const isFirst = update["sessionUpdate"] === "tool_call";
  if (isFirst || JSON.stringify(content) === JSON.stringify(tool.progress)) return [];
  tool.progress = content;
  const shown = readContentOutput(content);
  if (shown === undefined) return [];
  const data = { tool_use_id: tool.id, content: shown };
  return [reportNotice(state, "tool_progress", { data, parent: tool.parent })];
}

function finishTool(state: AcpState, tool: Tool, update: JsonObject): AgentEvent {
  const output = readOutput(update, tool);
  const is_error = tool.status === "failed" || (tool.exitCode !== undefined && tool.exitCode !== 0);
  return makeResult(state, tool, { ...defined({ output }), is_error });
}

function makeResult(
  state: AcpState,
  tool: Tool,
  result: { output?: unknown; is_error: boolean },
): AgentEvent {
  state.tools.delete(tool.id);
  state.doneTools.add(tool.id);
  const [oldest] = state.doneTools;
  if (state.doneTools.size > REMEMBERED && oldest !== undefined) state.doneTools.delete(oldest);
  return {
    type: "agent.tool_result",
    backend: state.backend,
    tool_use_id: tool.id,
    ...defined({ output: result.output }),
    is_error: result.is_error,
    ...defined({ parent_tool_use_id: tool.parent }),
  };
}

function lateUpdate(state: AcpState, id: string, update: JsonObject): AcpReport[] {
  const { status, content, rawOutput } = update;
  const { printed } = readTerminal(update);
  const isNews = hasInput(content) || hasInput(rawOutput) || printed !== undefined;
  if (!isNews && !FINAL.has(status)) return [];
  const data = {
    tool_use_id: id,
    ...defined({ output: readOutput(update) }),
    is_error: status === "failed",
  };
  return [reportNotice(state, "late_result", { data, parent: findParent(state, update) })];
}
