// Slash commands of a chat.
import { didYouMean } from "../command.ts";

export interface ChatCommand {
  name: string;
  usage: string;
  summary: string;
  /** Also works while a task is running. */
  isForRunning?: true;
}

export const CHAT_COMMANDS: readonly ChatCommand[] = [
  { name: "/stop", usage: "/stop", summary: "stop the running task", isForRunning: true },
  { name: "/compact", usage: "/compact", summary: "summarize older messages to free up context" },
  { name: "/context", usage: "/context", summary: "show what the model is given and what it costs" },
  {
    name: "/mcp",
    usage: "/mcp [refresh]",
    summary: "show MCP servers and tools, or connect and list them again",
  },
  {
    name: "/jobs",
    usage: "/jobs [kill N]",
    summary: "list background commands, or end one",
    isForRunning: true,
  },
  { name: "/undo", usage: "/undo [force]", summary: "undo the file changes of the last turn" },
  { name: "/image", usage: "/image [PATH]", summary: "attach an image, or the one in the clipboard" },
  { name: "/name", usage: "/name [NAME]", summary: "name this conversation, to resume it by name" },
  { name: "/provider", usage: "/provider [KEY]", summary: "switch the provider" },
  { name: "/model", usage: "/model [NAME]", summary: "switch the model" },
  { name: "/effort", usage: "/effort [LEVEL]", summary: "set the reasoning effort" },
  { name: "/thinking", usage: "/thinking", summary: "show what the model thought before its last answer" },
  { name: "/agent", usage: "/agent [NAME]", summary: "switch the agent" },
  { name: "/agents", usage: "/agents", summary: "list the sub-agents that the agent may delegate to" },
  {
    name: "/use-plan",
    usage: "/use-plan [TEXT]",
    summary: "send the plan made by claudecode-plan, with this text",
  },
  { name: "/help", usage: "/help", summary: "list these commands" },
  { name: "/exit", usage: "/exit, /quit", summary: "stop the running task and exit", isForRunning: true },
];

const ALIASES: Readonly<Record<string, string>> = { "/quit": "/exit" };

export type Typed =
  | { kind: "empty" }
  | { kind: "message"; text: string }
  | { kind: "command"; name: string; word: string | undefined }
  /** `!command` */
  | { kind: "shell"; command: string }
  /** `isNear`: a misspelled command, or one with arguments that it does not take. */
  | { kind: "unknown"; message: string; isNear: boolean };

/** A path such as /etc/hosts is a message, and so is any text that starts with a space. */
export function readTyped(text: string): Typed {
  if (text.trim() === "") return { kind: "empty" };
  const shell = /^!\s*(\S[\s\S]*)$/.exec(text.trimEnd())?.[1];
  if (shell !== undefined) return { kind: "shell", command: shell };
  const [, said, rest = ""] = /^(\/[a-z][a-z-]*)(?:\s+([\s\S]*))?$/.exec(text.trimEnd()) ?? [];
  if (said === undefined) return { kind: "message", text: text.trim() };
  const name = ALIASES[said] ?? said;
  const command = CHAT_COMMANDS.find((known) => known.name === name);
  if (command === undefined) {
    const names = [...CHAT_COMMANDS.map((known) => known.name), ...Object.keys(ALIASES)];
    const near = didYouMean(said, names);
    const hint = near || "; /help lists the commands";
    const message = `unknown command: ${said}${hint} (to send it as text, start with a space)`;
    return { kind: "unknown", message, isNear: near !== "" };
  }
  const word = rest.trim() === "" ? undefined : rest.trim();
  if (word !== undefined && !command.usage.includes("[")) {
    const message = `${said} takes no arguments (to send it as text, start with a space)`;
    return { kind: "unknown", message, isNear: true };
  }
  return { kind: "command", name, word };
}
