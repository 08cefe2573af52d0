// What may be typed instead of a message, while talking.
import { didYouMean } from "../command.ts";

export interface ChatCommand {
  name: string;
  usage: string;
  summary: string;
  /** It also counts while a task runs. */
  isForRunning?: true;
}

export const CHAT_COMMANDS: readonly ChatCommand[] = [
  { name: "/stop", usage: "/stop", summary: "stop the running task", isForRunning: true },
  { name: "/compact", usage: "/compact", summary: "make the conversation shorter for the model" },
  { name: "/provider", usage: "/provider [KEY]", summary: "another provider, from the next message on" },
  { name: "/model", usage: "/model [NAME]", summary: "another model" },
  { name: "/agent", usage: "/agent [NAME]", summary: "another agent" },
  { name: "/agents", usage: "/agents", summary: "the sub-agents that it may give work to" },
  {
    name: "/use-plan",
    usage: "/use-plan [TEXT]",
    summary: "send the plan that claudecode-plan made, with these words",
  },
  { name: "/help", usage: "/help", summary: "what can be typed here" },
  { name: "/exit", usage: "/exit, /quit", summary: "stop what runs, and leave", isForRunning: true },
];

const ALIASES: Readonly<Record<string, string>> = { "/quit": "/exit" };

export type Typed =
  | { kind: "empty" }
  | { kind: "message"; text: string }
  | { kind: "command"; name: string; word: string | undefined }
  /** `isNear`: it is a command that is misspelt, or has words that it does not take. */
  | { kind: "unknown"; message: string; isNear: boolean };

/** A path such as /etc/hosts is a message, and so is everything behind a blank. */
export function readTyped(text: string): Typed {
  if (text.trim() === "") return { kind: "empty" };
  const [, said, rest = ""] = /^(\/[a-z][a-z-]*)(?:\s+([\s\S]*))?$/.exec(text.trimEnd()) ?? [];
  if (said === undefined) return { kind: "message", text: text.trim() };
  const name = ALIASES[said] ?? said;
  const command = CHAT_COMMANDS.find((known) => known.name === name);
  if (command === undefined) {
    const names = [...CHAT_COMMANDS.map((known) => known.name), ...Object.keys(ALIASES)];
    const near = didYouMean(said, names);
    const hint = near || "; /help lists the commands";
    const message = `no command ${said}${hint} (to send this as text, put a space before it)`;
    return { kind: "unknown", message, isNear: near !== "" };
  }
  const word = rest.trim() === "" ? undefined : rest.trim();
  if (word !== undefined && !command.usage.includes("[")) {
    const message = `${said} takes no arguments (to send this as text, put a space before it)`;
    return { kind: "unknown", message, isNear: true };
  }
  return { kind: "command", name, word };
}
