// The built-in tools.
import { applyPatchTool } from "./apply-patch.ts";
import { bashTool } from "./bash.ts";
import { editFileTool } from "./edit-file.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { killJobTool } from "./kill-job.ts";
import { readFileTool } from "./read-file.ts";
import { tailJobTool } from "./tail-job.ts";
import { todoTool } from "./todo.ts";
import type { ToolDefinition } from "./types.ts";
import { createWebFetchTool } from "./web-fetch.ts";
import { writeFileTool } from "./write-file.ts";

/** `webHosts`: hosts that `web_fetch` may read at any address. */
export function createBuiltinTools(webHosts: readonly string[] = []): ToolDefinition[] {
  return [
    readFileTool,
    writeFileTool,
    editFileTool,
    applyPatchTool,
    bashTool,
    grepTool,
    globTool,
    createWebFetchTool(webHosts),
    todoTool,
    tailJobTool,
    killJobTool,
  ];
}
