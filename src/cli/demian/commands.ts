// The command table of demian, from which help and completion are made. Implementations are imported on demand, so that
// `demian acp` starts quickly.
import { defineFlag, type Flag } from "../command.ts";
import type { DemianCommand } from "./command.ts";
import { ACP_FLAGS, LOOK_FLAGS, TEAM_FLAGS } from "./flags.ts";

const NAMES: Flag = defineFlag("--names", "only the names, one per line");

export const COMMANDS: readonly DemianCommand[] = [
  {
    name: "acp",
    usage: "acp",
    summary: "serve the Agent Client Protocol on stdin and stdout, for editors and other programs",
    words: [0, 0],
    flags: ACP_FLAGS,
    examples: ["acp", "acp --agent plan --provider gemini"],
    notes: ["The flags are the defaults of its sessions; each session has its own working directory."],
    run: async (given, context) => (await import("./acp.ts")).runAcp(given, context),
  },
  {
    name: "sessions",
    usage: "sessions [ID…]",
    summary: "list the conversations of this directory, to continue them with --resume",
    words: [0, 100],
    flags: [
      defineFlag("--all", "those of all directories"),
      defineFlag("--remove", "remove these conversations, by id or name"),
      ...LOOK_FLAGS,
      NAMES,
    ],
    examples: ["sessions", "sessions --all --json", "sessions --remove parser-work"],
    notes: [
      "FROM: terminal, client (editors, blemeesd), or open: another process uses it. Conversations of terminals that have",
      "no name are removed after 90 days without use. They are in your state directory, readable only by you.",
    ],
    completes: "conversation",
    run: async (given, context) => (await import("./sessions.ts")).runSessions(given, context),
  },
  {
    name: "list-agents",
    usage: "list-agents",
    summary: "list agents: which can be selected or called, and where they are defined",
    words: [0, 0],
    flags: [
      defineFlag("--all", "include hidden agents"),
      defineFlag("--main", "only agents that --agent accepts"),
      ...LOOK_FLAGS,
      NAMES,
    ],
    examples: ["list-agents", "list-agents --all --json"],
    notes: ["CALLABLE: other agents may delegate to it in multi-agent mode."],
    run: async (given, context) => (await import("./list.ts")).listAgents(given, context),
  },
  {
    name: "list-tools",
    usage: "list-tools",
    summary: "list the tools that agents can use, and what they affect",
    words: [0, 0],
    flags: [...TEAM_FLAGS, NAMES],
    examples: ["list-tools", "list-tools --multi-agent --json"],
    notes: ["In multi-agent mode this includes delegate_agent as the default agent sees it."],
    run: async (given, context) => (await import("./list.ts")).listTools(given, context),
  },
  {
    name: "list-providers",
    usage: "list-providers",
    summary: "list providers with their model and what they still need",
    words: [0, 0],
    flags: [...LOOK_FLAGS, NAMES],
    examples: ["list-providers", "list-providers --json"],
    run: async (given, context) => (await import("./list.ts")).listProviders(given, context),
  },
  {
    name: "trust",
    usage: "trust [FILE…]",
    summary: "list, trust or refuse a project's config, agents and instructions, and tool modules",
    words: [0, 100],
    flags: [
      defineFlag("--all", "every file without a decision"),
      defineFlag("-y, --yes", "do not prompt"),
      defineFlag("--refuse", "never load this version, and do not ask about it again"),
      defineFlag("--revoke", "forget the decision"),
      ...LOOK_FLAGS,
      NAMES,
    ],
    examples: [
      "trust",
      "trust .demian/tools/deploy.mjs",
      "trust --all --yes",
      "trust --revoke .demian/tools/deploy.mjs",
    ],
    notes: [
      "Without FILE it lists the files and changes nothing. Trust covers the current content: a changed file must be",
      "trusted again. Decisions are stored in your state directory, outside every workspace.",
    ],
    completes: "trustable",
    run: async (given, context) => (await import("./trust.ts")).runTrust(given, context),
  },
  {
    name: "doctor",
    usage: "doctor [policies]",
    summary: "check configuration, providers, logins, agents, tools and sandbox, and suggest fixes",
    words: [0, 1],
    flags: [
      ...TEAM_FLAGS,
      defineFlag("--upgrade-namespaces", "with policies: show rules with tools renamed to demian.TOOL"),
      defineFlag("--write", "with policies: update the file and keep a backup"),
    ],
    examples: [
      "doctor",
      "doctor --json",
      "doctor policies --upgrade-namespaces",
      "doctor policies --upgrade-namespaces --write",
    ],
    notes: [
      "Makes no network requests. Exit status: 0 no failures, 1 at least one check failed.",
      "`doctor policies` checks the permission rules in your config file (or the file given by --config). Rules name",
      "demian's tools as `bash` or `demian.bash`; --upgrade-namespaces shows the rules that would get the second form.",
    ],
    completes: ["policies"],
    run: async (given, context) => (await import("./doctor.ts")).runDoctor(given, context),
  },
];
