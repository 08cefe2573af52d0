// The flags of demian and of its commands.
import type { Flag } from "../command.ts";

const HELP: Flag = {
  name: "help",
  short: "h",
  summary: "show help; after a command, the help of that command",
};
const JSON_EVENTS: Flag = { name: "json", summary: "print events as they happen, one JSON object per line" };
const JSON_DOCUMENT: Flag = { name: "json", summary: "print one JSON document" };

/** Where to work and with which configuration. */
const PLACE: readonly Flag[] = [
  {
    name: "cwd",
    value: "PATH",
    completes: "file",
    summary: "the workspace (default: the current directory)",
  },
  {
    name: "config",
    value: "PATH",
    completes: "file",
    summary: "an additional config file that overrides the others",
  },
];

const MODE: readonly Flag[] = [
  {
    name: "mode",
    value: "MODE",
    completes: "mode",
    summary: "single, or multi: the agent may delegate to sub-agents",
  },
  { name: "single-agent", summary: "same as --mode single" },
  { name: "multi-agent", summary: "same as --mode multi" },
];

/** What a session is opened with. */
const SESSION: readonly Flag[] = [
  {
    name: "agent",
    value: "NAME",
    completes: "agent",
    summary: "the main agent: build, plan, or one from the config",
  },
  { name: "provider", value: "KEY", completes: "provider", summary: "a provider from the config" },
  { name: "model", value: "NAME", summary: "the model (default: the provider's)" },
  { name: "max-turns", value: "N", summary: "stop after N model responses" },
  {
    name: "sandbox",
    value: "MODE",
    completes: "sandbox",
    summary: "sandbox for commands: off, read-only or workspace-write",
  },
  { name: "demo", summary: "use a script instead of a model: no account needed, nothing is changed" },
  { name: "yes", short: "y", summary: "allow everything that would be asked; rules that deny still apply" },
  { name: "dry-run", summary: "stop before write_file, edit_file and bash do anything" },
  { name: "stream", summary: "stream responses (default)" },
  { name: "no-stream", summary: "wait for complete responses" },
  { name: "persistent-grants", summary: "save what you allow with `always` for this project (default)" },
  { name: "no-persistent-grants", summary: "forget what you allow when the session ends" },
  { name: "no-transcript", summary: "write nothing to .demian/transcripts" },
  { name: "main-max-context-tokens", value: "N", summary: "context limit of the main agent's model" },
  {
    name: "main-compact-at",
    value: "RATIO",
    summary: "compact when this share of the context is used (0 to 1)",
  },
  ...MODE,
  { name: "sub-max-context-tokens", value: "N", summary: "context limit of a sub-agent's model" },
  {
    name: "sub-compact-at",
    value: "RATIO",
    summary: "compact when this share of the context is used (0 to 1)",
  },
  { name: "trust-project", summary: "trust the current contents of this workspace's .demian" },
  { name: "trust-user-tools", summary: "load the tools in ~/.demian/tools; they run as programs" },
];

export const LOOK_FLAGS: readonly Flag[] = [...PLACE, JSON_DOCUMENT];
/** For commands whose output depends on the agent mode. */
export const TEAM_FLAGS: readonly Flag[] = [...MODE, ...LOOK_FLAGS];
export const ACP_FLAGS: readonly Flag[] = [...SESSION, ...PLACE];

/** Flags of demian without a command. */
export const RUN_FLAGS: readonly Flag[] = [
  { name: "prompt", short: "p", value: "TEXT", summary: "the message; demian answers it and exits" },
  {
    name: "image",
    value: "PATH|URL",
    isMany: true,
    completes: "file",
    summary: "attach an image; may be repeated",
  },
  ...SESSION,
  ...PLACE,
  { name: "plain", summary: "chat in plain lines instead of on a screen, as demian-plain does" },
  { name: "daemon", summary: "run the session in blemeesd, where it continues after you leave" },
  { name: "stdin", summary: "wait for text on stdin without a time limit" },
  JSON_EVENTS,
  { name: "quiet", short: "q", summary: "on stderr, print only prompts and errors" },
];

export const COMMON_FLAGS: readonly Flag[] = [HELP];
export const PROGRAM_FLAGS: readonly Flag[] = [
  ...RUN_FLAGS,
  HELP,
  { name: "version", short: "V", summary: "print the version" },
];
