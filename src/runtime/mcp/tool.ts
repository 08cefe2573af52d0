// A tool of a server as one of ours: the same permission check, hooks and limits on output apply to it.
import { createHash } from "node:crypto";
import { toMessage } from "../../base/coded-error.ts";
import { isObject } from "../../base/json.ts";
import { capOutput } from "../tools/output.ts";
import type { ToolDefinition, ToolResult } from "../tools/types.ts";
import type { McpConnection } from "./connection.ts";
import { MCP_PREFIX } from "./names.ts";
import type { McpTool } from "./types.ts";

const MAX_TITLE = 160;

/** `name`: what the model calls it. */
export function createMcpTool(connection: McpConnection, tool: McpTool, name: string): ToolDefinition {
  const { order } = connection;
  // An "always" holds for this tool of this server as it is now, not for what a server makes of it later.
  const key = createHash("sha256")
    .update(JSON.stringify([order, tool]))
    .digest("hex")
    .slice(0, 32);
  return {
    name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    // Whatever the server says about it: its own hints (read-only, idempotent) decide nothing.
    metadata: { sideEffect: "external", defaultDecision: "ask" },
    check: (input) =>
      isObject(input) ? { ok: true, value: input } : { ok: false, message: "expected an object" },
    plan: async (input) => {
      const text = JSON.stringify(input);
      return {
        title: `${name}: ${text.length > MAX_TITLE ? `${text.slice(0, MAX_TITLE)}…` : text}`,
        targets: [{ kind: "other", key: `${MCP_PREFIX}${key}` }],
      };
    },
    execute: async (input, _plan, { signal, progress, keepOutput }): Promise<ToolResult> => {
      try {
        const result = await connection.use({ signal, progress }, (client, limits) =>
          client.callTool(tool.name, input, limits),
        );
        const { content, truncated, outputFile } = await capOutput(result.text, keepOutput);
        const metadata = {
          ...(truncated ? { truncated } : {}),
          ...(outputFile === undefined ? {} : { outputFile }),
        };
        return { ok: result.ok, content, metadata };
      } catch (error) {
        signal.throwIfAborted();
        return { ok: false, content: `${name} failed: ${toMessage(error)}` };
      }
    },
  };
}
