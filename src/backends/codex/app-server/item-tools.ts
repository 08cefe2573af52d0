// Tool-call items: name, input and output of each type.

import { isObject, type JsonObject } from "../../../base/json.ts";
import {
  asCount,
  asObject,
  asObjects,
  asString,
  asStrings,
  asText,
  defined,
  omitNulls,
} from "../../../base/values.ts";
import { toSnake } from "../../values.ts";

interface ToolItem {
  name(item: JsonObject): string;
  input(item: JsonObject): unknown;
  /** The output of the completed item. */
  output(item: JsonObject): unknown;
  /** Besides the statuses that always mean failure. */
  hasFailed?(item: JsonObject): boolean;
}

const FAILED: ReadonlySet<unknown> = new Set(["failed", "declined", "interrupted"]);

const TOOL_ITEMS: ReadonlyMap<unknown, ToolItem> = new Map<unknown, ToolItem>([
  [
    "commandExecution",
    {
      name: () => "shell",
      input: (item) => omitNulls({ command: item["command"], cwd: item["cwd"] }),
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
        FAILED.has(item["status"]) ? item["status"] : readChanges(item).map(changeLine).join("\n"),
    },
  ],
  [
    "mcpToolCall",
    {
      name: ({ server, tool }) => `mcp__${asString(server) ?? "unknown"}__${asString(tool) ?? "unknown"}`,
      input: (item) => item["arguments"] ?? {},
      output: mcpOutput,
      hasFailed: ({ error, result }) => isObject(error) || asObject(result)["isError"] === true,
    },
  ],
  [
    "dynamicToolCall",
    {
      name: ({ namespace, tool }) =>
        [asText(namespace), asString(tool) ?? "unknown"].filter(Boolean).join("__"),
      input: (item) => item["arguments"] ?? {},
      output: (item) => item["contentItems"] ?? undefined,
      hasFailed: ({ success }) => success === false,
    },
  ],
  [
    "collabAgentToolCall",
    {
      name: ({ tool }) => toSnake(asString(tool) ?? "unknown"),
      input: (item) => ({
        ...omitNulls({ prompt: item["prompt"] }),
        ...defined({ model: asText(item["model"]) }),
        ...omitNulls({ reasoning_effort: item["reasoningEffort"] }),
        ...readReceivers(item),
      }),
      output: (item) => ({ ...readReceivers(item), agents: item["agentsStates"] ?? {} }),
    },
  ],
  [
    "webSearch",
    {
      name: () => "web_search",
      input: (item) => omitNulls({ query: item["query"], action: item["action"] }),
      // The query is often known only at the end.
      output: ({ results, query, action }) => results ?? omitNulls({ query, action }),
    },
  ],
  ["imageView", { name: () => "view_image", input: pathOnly, output: pathOnly }],
  [
    "imageGeneration",
    {
      name: () => "image_generation",
      input: (item) => omitNulls({ prompt: item["revisedPrompt"] }),
      output: imageOutput,
      hasFailed: ({ failure }) => isObject(failure),
    },
  ],
  [
    "sleep",
    {
      name: () => "sleep",
      input: (item) => defined({ duration_ms: asCount(item["durationMs"]) }),
      output: () => undefined,
    },
  ],
  [
    "functionCallOutput",
    {
      name: ({ namespace, name }) =>
        [asText(namespace), asString(name) ?? "unknown"].filter(Boolean).join("__"),
      input: () => ({}),
      output: (item) => item["output"],
    },
  ],
]);

/** The newer multi-agent mode has no item for the call itself, only for the sub-agent it started. */
const SPAWN: ToolItem = {
  name: () => "spawn_agent",
  input: (item) => ({
    ...omitNulls({
      path: item["agentPath"],
      model: item["model"],
      reasoning_effort: item["reasoningEffort"],
    }),
  }),
  output: (item) => omitNulls({ thread_id: item["agentThreadId"] }),
};

export function findToolItem(item: JsonObject): ToolItem | undefined {
  if (item["type"] === "subAgentActivity" && item["kind"] === "started") return SPAWN;
  return TOOL_ITEMS.get(item["type"]);
}

export function hasFailed(tool: ToolItem, item: JsonObject): boolean {
  return FAILED.has(item["status"]) || tool.hasFailed?.(item) === true;
}

export function readChanges(item: JsonObject): JsonObject[] {
  return asObjects(item["changes"]);
}

/** The command's output; a failed exit code is its last line. */
function commandOutput({ aggregatedOutput, exitCode, status }: JsonObject): string {
  const text = asString(aggregatedOutput) ?? "";
  if (typeof exitCode === "number" && exitCode !== 0) return withLine(text, `[exit code ${exitCode}]`);
  return FAILED.has(status) && text === "" ? String(status) : text;
}

function withLine(text: string, line: string): string {
  return text === "" || text.endsWith("\n") ? `${text}${line}` : `${text}\n${line}`;
}

function changeLine(change: JsonObject): string {
  const kind = asObject(change["kind"]);
  const to = asText(kind["move_path"]);
  const line = `${asString(kind["type"]) ?? "update"} ${asString(change["path"]) ?? ""}`;
  return to === undefined ? line : `${line} → ${to}`;
}

function mcpOutput({ result, error }: JsonObject): unknown {
  if (isObject(error)) return asString(error["message"]) ?? error;
  const { content, structuredContent } = asObject(result);
  const hasContent = Array.isArray(content) && content.length > 0;
  return hasContent ? content : (structuredContent ?? content ?? undefined);
}

function readReceivers(item: JsonObject): JsonObject {
  const ids = asStrings(item["receiverThreadIds"]);
  return ids.length > 0 ? { thread_ids: ids } : {};
}

function pathOnly(item: JsonObject): JsonObject {
  return omitNulls({ path: item["path"] });
}

/** The image itself only if it is not stored elsewhere: it is large. */
function imageOutput(item: JsonObject): JsonObject {
  const saved = asText(item["savedPath"]) ?? asText(item["fileId"]);
  return {
    ...omitNulls({
      status: item["status"],
      saved_path: item["savedPath"],
      file_id: item["fileId"],
      failure: item["failure"],
    }),
    ...(saved === undefined ? omitNulls({ result: item["result"] }) : {}),
  };
}
