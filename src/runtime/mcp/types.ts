// What the parts of the MCP client share. The SDK is imported by sdk.ts only.
import type { McpServerConfig } from "../config/mcp-servers.ts";

/** A server that a session connects to. */
export interface McpOrder {
  /** Unique in the session; part of tool names. */
  name: string;
  config: McpServerConfig;
  origin: "user" | "project" | "client";
}

/** "idle": not started yet. "failed": tried again with the next use. */
export type McpState = "idle" | "connecting" | "ready" | "failed" | "off";

export interface McpServerStatus {
  name: string;
  origin: McpOrder["origin"];
  /** The command, or the origin of the URL; never arguments or headers, which can be secret. */
  address: string;
  state: McpState;
  /** Why it failed, or what was left out. */
  problems: readonly string[];
  /** As the server calls itself. */
  version?: string;
  /** The names that the model sees. */
  tools: readonly string[];
  prompts: number;
  resources: number;
  /** Its lists have changed; the changes apply at the next safe point. */
  hasChanges: boolean;
}

export interface McpTool {
  /** The server's name of it. */
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

export interface McpPrompt {
  name: string;
  description: string;
  /** In order. */
  arguments: readonly { name: string; required: boolean }[];
}

export interface McpResource {
  uri: string;
  name: string;
}

/** What a server offers: sanitized and bounded. */
export interface McpOffer {
  tools: readonly McpTool[];
  prompts: readonly McpPrompt[];
  resources: readonly McpResource[];
  instructions: string;
  /** What was left out, for the user. */
  problems: readonly string[];
}

export interface McpResult {
  ok: boolean;
  text: string;
}

/** Shown to clients as a slash command. */
export interface McpCommand {
  /** Without the slash: "server:prompt". */
  name: string;
  description: string;
  /** Its arguments; required ones in angle brackets. */
  hint?: string;
}

/** The servers of a session, for its clients. */
export interface McpControl {
  list(): readonly McpServerStatus[];
  commands(): readonly McpCommand[];
  /** `@server:uri` */
  mentions(): readonly string[];
  /** Connects to failed servers and applies changed lists. Between turns only. */
  refresh(): Promise<void>;
}
