// The flags of demian, and which of its commands take which.
import type { Flag } from "../command.ts";

const HELP: Flag = { name: "help", short: "h", summary: "show help, also after a command" };
const JSON_EVENTS: Flag = { name: "json", summary: "events as they happen, one JSON object a line" };
const JSON_DOCUMENT: Flag = { name: "json", summary: "one JSON document" };

/** Where to work and with which configuration. */
const PLACE: readonly Flag[] = [
  {
    name: "cwd",
    value: "PATH",
    completes: "file",
    summary: "the workspace (default: the current directory)",
  },
  { name: "config", value: "PATH", completes: "file", summary: "one more config file, over the others" },
];

const MODE: readonly Flag[] = [
  {
    name: "mode",
    value: "MODE",
    completes: "mode",
    summary: "single, or multi: the agent may give work to sub-agents",
  },
  { name: "single-agent", summary: "the same as --mode single" },
  { name: "multi-agent", summary: "the same as --mode multi" },
];

/** What a session is opened with. */
const SESSION: readonly Flag[] = [
  {
    name: "agent",
    value: "NAME",
    completes: "agent",
    summary: "who works: build, plan, or one of the config",
  },
  { name: "provider", value: "KEY", completes: "provider", summary: "which provider of the config" },
  { name: "model", value: "NAME", summary: "another model than the provider's default" },
  { name: "max-turns", value: "N", summary: "end after so many answers of the model" },
  {
    name: "sandbox",
    value: "MODE",
    completes: "sandbox",
    summary: "how commands are held: off, read-only or workspace-write",
  },
  { name: "demo", summary: "a script instead of a model: needs no account and touches nothing" },
  { name: "yes", short: "y", summary: "allow what would be asked; denials still hold" },
  { name: "dry-run", summary: "stop before write_file, edit_file and bash do anything" },
  { name: "stream", summary: "take the answer as it is made (default)" },
  { name: "no-stream", summary: "take each answer as a whole" },
  { name: "persistent-grants", summary: "keep what is allowed with `always` for this project (default)" },
  { name: "no-persistent-grants", summary: "forget it when the session ends" },
  { name: "no-transcript", summary: "write nothing to .demian/transcripts" },
  { name: "main-max-context-tokens", value: "N", summary: "how much of the conversation the model sees" },
  { name: "main-compact-at", value: "RATIO", summary: "compact when so much of that is used (0 to 1)" },
  ...MODE,
  { name: "sub-max-context-tokens", value: "N", summary: "how much of its work a sub-agent's model sees" },
  { name: "sub-compact-at", value: "RATIO", summary: "compact that when so much is used (0 to 1)" },
  { name: "trust-project", summary: "trust what is in .demian of this workspace as it is now" },
  { name: "trust-user-tools", summary: "load the tools of ~/.demian/tools: they are programs" },
];

export const LOOK_FLAGS: readonly Flag[] = [...PLACE, JSON_DOCUMENT];
/** Also for what is different with several agents. */
export const TEAM_FLAGS: readonly Flag[] = [...MODE, ...LOOK_FLAGS];
export const ACP_FLAGS: readonly Flag[] = [...SESSION, ...PLACE];

/** Of demian without a command. */
export const RUN_FLAGS: readonly Flag[] = [
  { name: "prompt", short: "p", value: "TEXT", summary: "the message; demian answers it and exits" },
  {
    name: "image",
    value: "PATH|URL",
    isMany: true,
    completes: "file",
    summary: "show this to the model too; may be repeated",
  },
  ...SESSION,
  ...PLACE,
  { name: "plain", summary: "talk in plain lines instead of the screen, as demian-plain does" },
  { name: "daemon", summary: "the screen on a session of blemeesd, which goes on without it" },
  { name: "stdin", summary: "wait for a message or more text on stdin, however long it takes" },
  JSON_EVENTS,
  { name: "quiet", short: "q", summary: "no talk on stderr, only questions and errors" },
];

export const COMMON_FLAGS: readonly Flag[] = [HELP];
export const PROGRAM_FLAGS: readonly Flag[] = [
  ...RUN_FLAGS,
  HELP,
  { name: "version", short: "V", summary: "print the version" },
];
