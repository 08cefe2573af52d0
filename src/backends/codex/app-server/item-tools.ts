// The items that are calls of a tool: how each type is named, what went in and what came out.
import { isObject, type JsonObject } from "../../../base/json.ts";
import {
  countOf,
  known,
  objectOf,
  objectsOf,
  optional,
  stringOf,
  stringsOf,
  textOf,
  toSnake,
} from "../../values.ts";

interface ToolItem {
  name(item: JsonObject): string;
  input(item: JsonObject): unknown;
  /** What the completed item gave back. */
  output(item: JsonObject): unknown;
  /** Beside the statuses that mean failure everywhere. */
  hasFailed?(item: JsonObject): boolean;
}

const FAILED: ReadonlySet<unknown> = new Set(["failed", "declined", "interrupted"]);

const TOOL_ITEMS: ReadonlyMap<unknown, ToolItem> = new Map<unknown, ToolItem>([
  [
    "commandExecution",
    {
      name: () => "shell",
      input: (item) => ({ ...known("command", item["command"]), ...known("cwd", item["cwd"]) }),
      output: commandOutput,
      hasFailed: ({ exitCode }) => typeof exitCode === "number" && exitCode !== 0,
    },
  ],
  [
    "fileChange",
    {
      name: () => "apply_patch",
      input: (item) => ({ changes: item["changes"] ?? [] }),
      output: (item) =>
        FAILED.has(item["status"]) ? item["status"] : changesOf(item).map(changeLine).join("\n"),
    },
  ],
  [
    "mcpToolCall",
    {
      name: ({ server, tool }) => `mcp__${stringOf(server) ?? "unknown"}__${stringOf(tool) ?? "unknown"}`,
      input: (item) => item["arguments"] ?? {},
      output: mcpOutput,
      hasFailed: ({ error, result }) => isObject(error) || objectOf(result)["isError"] === true,
    },
  ],
  [
    "dynamicToolCall",
    {
      name: ({ namespace, tool }) =>
        [textOf(namespace), stringOf(tool) ?? "unknown"].filter(Boolean).join("__"),
      input: (item) => item["arguments"] ?? {},
      output: (item) => item["contentItems"] ?? undefined,
      hasFailed: ({ success }) => success === false,
    },
  ],
  [
    "collabAgentToolCall",
    {
      name: ({ tool }) => toSnake(stringOf(tool) ?? "unknown"),
      input: (item) => ({
        ...known("prompt", item["prompt"]),
        ...optional("model", textOf(item["model"])),
        ...known("reasoning_effort", item["reasoningEffort"]),
        ...receiversOf(item),
      }),
      output: (item) => ({ ...receiversOf(item), agents: item["agentsStates"] ?? {} }),
    },
  ],
  [
    "webSearch",
    {
      name: () => "web_search",
      input: (item) => ({ ...known("query", item["query"]), ...known("action", item["action"]) }),
      // The query is often known only at the end.
      output: ({ results, query, action }) =>
        results ?? { ...known("query", query), ...known("action", action) },
    },
  ],
  ["imageView", { name: () => "view_image", input: pathOnly, output: pathOnly }],
  [
    "imageGeneration",
    {
      name: () => "image_generation",
      input: (item) => known("prompt", item["revisedPrompt"]),
      output: imageOutput,
      hasFailed: ({ failure }) => isObject(failure),
    },
  ],
  [
    "sleep",
    {
      name: () => "sleep",
      input: (item) => optional("duration_ms", countOf(item["durationMs"])),
      output: () => undefined,
    },
  ],
  [
    "functionCallOutput",
    {
      name: ({ namespace, name }) =>
        [textOf(namespace), stringOf(name) ?? "unknown"].filter(Boolean).join("__"),
      input: () => ({}),
      output: (item) => item["output"],
    },
  ],
]);

/** The newer multi-agent mode has no item for the call itself, only for the sub-agent that it started. */
const SPAWN: ToolItem = {
  name: () => "spawn_agent",
  input: (item) => ({
    ...known("path", item["agentPath"]),
    ...known("model", item["model"]),
    ...known("reasoning_effort", item["reasoningEffort"]),
  }),
  output: (item) => known("thread_id", item["agentThreadId"]),
};

export function toolItemOf(item: JsonObject): ToolItem | undefined {
  if (item["type"] === "subAgentActivity" && item["kind"] === "started") return SPAWN;
  return TOOL_ITEMS.get(item["type"]);
}

export function hasFailed(tool: ToolItem, item: JsonObject): boolean {
  return FAILED.has(item["status"]) || tool.hasFailed?.(item) === true;
}

export function changesOf(item: JsonObject): JsonObject[] {
  return objectsOf(item["changes"]);
}

/** The text of the command; a person sees the code of a failure as its last line. */
function commandOutput({ aggregatedOutput, exitCode, status }: JsonObject): string {
  const text = stringOf(aggregatedOutput) ?? "";
  if (typeof exitCode === "number" && exitCode !== 0) return withLine(text, `[exit code ${exitCode}]`);
  return FAILED.has(status) && text === "" ? String(status) : text;
}

function withLine(text: string, line: string): string {
  return text === "" || text.endsWith("\n") ? `${text}${line}` : `${text}\n${line}`;
}

function changeLine(change: JsonObject): string {
  const kind = objectOf(change["kind"]);
  const to = textOf(kind["move_path"]);
  const line = `${stringOf(kind["type"]) ?? "update"} ${stringOf(change["path"]) ?? ""}`;
  return to === undefined ? line : `${line} → ${to}`;
}

function mcpOutput({ result, error }: JsonObject): unknown {
  if (isObject(error)) return stringOf(error["message"]) ?? error;
  const { content, structuredContent } = objectOf(result);
  const hasContent = Array.isArray(content) && content.length > 0;
  return hasContent ? content : (structuredContent ?? content ?? undefined);
}

function receiversOf(item: JsonObject): JsonObject {
  const ids = stringsOf(item["receiverThreadIds"]);
  return ids.length > 0 ? { thread_ids: ids } : {};
}

function pathOnly(item: JsonObject): JsonObject {
  return known("path", item["path"]);
}

/** The picture itself only when it stands nowhere else: it is large. */
function imageOutput(item: JsonObject): JsonObject {
  const saved = textOf(item["savedPath"]) ?? textOf(item["fileId"]);
  return {
    ...known("status", item["status"]),
    ...known("saved_path", item["savedPath"]),
    ...known("file_id", item["fileId"]),
    ...known("failure", item["failure"]),
    ...(saved === undefined ? known("result", item["result"]) : {}),
  };
}
