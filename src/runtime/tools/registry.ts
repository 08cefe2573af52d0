// All tools. An agent's definition says which it sees; permissions decide what they may do.
import type { RegistrySource } from "../agents/types.ts";
import type { ToolDefinition } from "./types.ts";

export const TOOL_NAME = /^[a-z][a-z0-9_]{0,63}$/;

export interface RegisteredTool {
  tool: ToolDefinition;
  source: RegistrySource;
}

export class ToolRegistry {
  readonly #tools = new Map<string, RegisteredTool>();

  /** False: the name is taken and the first tool stays, so that no built-in is silently replaced. */
  register(tool: ToolDefinition, source: RegistrySource): boolean {
    if (!TOOL_NAME.test(tool.name))
      throw new Error(`"${tool.name}" is not a valid tool name: use a-z, 0-9 and _`);
    if (this.#tools.has(tool.name)) return false;
    this.#tools.set(tool.name, { tool, source });
    return true;
  }

  get(name: string): ToolDefinition | undefined {
    return this.#tools.get(name)?.tool;
  }

  list(): RegisteredTool[] {
    return [...this.#tools.values()];
  }
}
