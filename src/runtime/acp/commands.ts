// Slash commands.
import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { PromptCommand } from "../prompts.ts";

export const COMPACT = "/compact";
export const CONTEXT = "/context";
export const MCP = "/mcp";
export const NAME = "/name";
export const USE_PLAN = "/use-plan";

export const AVAILABLE_COMMANDS: readonly AvailableCommand[] = [
  { name: "compact", description: "Replace the conversation so far with a summary" },
  { name: "context", description: "Show what the model is given and what it costs" },
  { name: "mcp", description: "Show the MCP servers and their tools", input: { hint: "refresh" } },
  {
    name: "name",
    description: "Name this conversation, to find and resume it",
    input: { hint: "the name" },
  },
  {
    name: "use-plan",
    description: "Carry out the last plan",
    input: { hint: "what to do with it" },
  },
];

/** The user's own. A built-in one of the same name wins. */
export function toAvailableCommands(commands: readonly PromptCommand[]): AvailableCommand[] {
  return commands
    .filter(({ name }) => AVAILABLE_COMMANDS.every((known) => known.name !== name))
    .map(({ name, description = "Own command" }) => ({ name, description, input: { hint: "arguments" } }));
}

/** The text after the command; undefined if the text is not this command. */
export function readArguments(text: string, command: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed !== command && !new RegExp(`^${command}\\s`).test(trimmed)) return undefined;
  return trimmed.slice(command.length).trim();
}
