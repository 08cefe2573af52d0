// What a client can say instead of a message: words that begin with a slash.
import type { AvailableCommand } from "@agentclientprotocol/sdk";

export const COMPACT = "/compact";
export const USE_PLAN = "/use-plan";

export const AVAILABLE_COMMANDS: readonly AvailableCommand[] = [
  { name: "compact", description: "Make room: keep a summary of what was said" },
  {
    name: "use-plan",
    description: "Carry out the last plan",
    input: { hint: "what to do with it" },
  },
];

/** What stands behind the command; undefined: the text is none. */
export function wordsOf(text: string, command: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed !== command && !new RegExp(`^${command}\\s`).test(trimmed)) return undefined;
  return trimmed.slice(command.length).trim();
}
