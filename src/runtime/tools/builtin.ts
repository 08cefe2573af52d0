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
import { writeFileTool } from "./write-file.ts";

export function createBuiltinTools(): ToolDefinition[] {
  return [
    readFileTool,
    writeFileTool,
    editFileTool,
    applyPatchTool,
    bashTool,
    grepTool,
    globTool,
    todoTool,
    tailJobTool,
    killJobTool,
  ];
}
