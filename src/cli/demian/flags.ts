// The flags of demian and of its commands.
import { defineFlag, type Flag } from "../command.ts";

const HELP: Flag = defineFlag("-h, --help", "show help; after a command, the help of that command");
const JSON_EVENTS: Flag = defineFlag("--json", "print events as they happen, one JSON object per line");
const JSON_DOCUMENT: Flag = defineFlag("--json", "print one JSON document");

/** Where to work and with which configuration. */
const PLACE: readonly Flag[] = [
  defineFlag("--cwd PATH", "the workspace (default: the current directory)", { completes: "file" }),
  defineFlag("--config PATH", "an additional config file that overrides the others", { completes: "file" }),
];

const MODE: readonly Flag[] = [
  defineFlag("--mode MODE", "single, or multi: the agent may delegate to sub-agents", { completes: "mode" }),
  defineFlag("--single-agent", "same as --mode single"),
  defineFlag("--multi-agent", "same as --mode multi"),
];

/** What a session is opened with. */
const SESSION: readonly Flag[] = [
  defineFlag("--agent NAME", "the main agent: build, plan, or one from the config", { completes: "agent" }),
  defineFlag("--provider KEY", "a provider from the config", { completes: "provider" }),
  defineFlag("--model NAME", "the model (default: the provider's)"),
  defineFlag("--effort LEVEL", "reasoning effort: none, minimal, low, medium, high, xhigh or max", {
    completes: "effort",
  }),
  defineFlag("--max-turns N", "stop after N model responses"),
  defineFlag("--sandbox MODE", "sandbox for commands: off, read-only or workspace-write", {
    completes: "sandbox",
  }),
  defineFlag("--demo", "use a script instead of a model: no account needed, nothing is changed"),
  defineFlag("-y, --yes", "allow everything that would be asked; rules that deny still apply"),
  defineFlag("--dry-run", "stop before tools write files or run commands"),
  defineFlag("--stream", "stream responses (default)"),
  defineFlag("--no-stream", "wait for complete responses"),
  defineFlag("--persistent-grants", "save what you allow with `always` for this project (default)"),
  defineFlag("--no-persistent-grants", "forget what you allow when the session ends"),
  defineFlag("--no-transcript", "write no transcript, and do not store the conversation"),
  defineFlag("--main-max-context-tokens N", "context limit of the main agent's model"),
  defineFlag("--main-compact-at RATIO", "compact when this share of the context is used (0 to 1)"),
  ...MODE,
  defineFlag("--sub-max-context-tokens N", "context limit of a sub-agent's model"),
  defineFlag("--sub-compact-at RATIO", "compact when this share of the context is used (0 to 1)"),
  defineFlag("--trust-project", "trust the current contents of this workspace's .demian"),
  defineFlag("--trust-user-tools", "load the tools in ~/.demian/tools; they run as programs"),
];

export const LOOK_FLAGS: readonly Flag[] = [...PLACE, JSON_DOCUMENT];
/** For commands whose output depends on the agent mode. */
export const TEAM_FLAGS: readonly Flag[] = [...MODE, ...LOOK_FLAGS];
export const ACP_FLAGS: readonly Flag[] = [...SESSION, ...PLACE];

/** Flags of demian without a command. */
export const RUN_FLAGS: readonly Flag[] = [
  defineFlag("-p, --prompt TEXT", "the message; demian answers it and exits"),
  defineFlag("--image PATH|URL", "attach an image; may be repeated", { isMany: true, completes: "file" }),
  defineFlag("-c, --continue", "continue the last conversation of this directory"),
  defineFlag("-r, --resume[=ID]", "continue this conversation, by id or name; without ID: choose one", {
    completes: "conversation",
  }),
  defineFlag("--name NAME", "name the conversation, to resume it by name"),
  ...SESSION,
  ...PLACE,
  defineFlag("--plain", "chat in plain lines instead of on a screen, as demian-plain does"),
  defineFlag("--daemon", "run the session in blemeesd, where it continues after you leave"),
  defineFlag("--stdin", "wait for text on stdin without a time limit"),
  JSON_EVENTS,
  defineFlag("-q, --quiet", "on stderr, print only prompts and errors"),
];

export const COMMON_FLAGS: readonly Flag[] = [HELP];
export const PROGRAM_FLAGS: readonly Flag[] = [
  ...RUN_FLAGS,
  HELP,
  defineFlag("-V, --version", "print the version"),
];
