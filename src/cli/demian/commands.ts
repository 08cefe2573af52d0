// Every command of demian: help, completion and the program are made from this table. What a command does is imported
// only when it is carried out; `demian acp` is started by editors, who wait for it.
import type { Flag } from "../command.ts";
import { SHELLS } from "../completion.ts";
import type { Command } from "./command.ts";
import { ACP_FLAGS, LOOK_FLAGS, TEAM_FLAGS } from "./flags.ts";

const NAMES: Flag = { name: "names", summary: "only the names, one a line" };

export const COMMANDS: readonly Command[] = [
  {
    name: "acp",
    usage: "acp",
    summary: "be an agent for editors and other programs (Agent Client Protocol on stdin and stdout)",
    words: [0, 0],
    flags: ACP_FLAGS,
    examples: ["acp", "acp --agent plan --provider gemini"],
    notes: ["The flags are the defaults of its sessions; each session has its own working directory."],
    run: async (given, context) => (await import("./acp.ts")).runAcp(given, context),
  },
  {
    name: "list-agents",
    usage: "list-agents",
    summary: "the agents, who can be chosen and who can be called, and where they come from",
    words: [0, 0],
    flags: [
      { name: "all", summary: "the hidden ones too" },
      { name: "main", summary: "only those that --agent takes" },
      ...LOOK_FLAGS,
      NAMES,
    ],
    examples: ["list-agents", "list-agents --all --json"],
    notes: ["CALLABLE: in multi-agent mode others may give it work."],
    run: async (given, context) => (await import("./list.ts")).listAgents(given, context),
  },
  {
    name: "list-tools",
    usage: "list-tools",
    summary: "the tools that agents have, and what they may touch",
    words: [0, 0],
    flags: [...TEAM_FLAGS, NAMES],
    examples: ["list-tools", "list-tools --multi-agent --json"],
    notes: ["With several agents there is delegate_agent too, as the default agent sees it."],
    run: async (given, context) => (await import("./list.ts")).listTools(given, context),
  },
  {
    name: "list-providers",
    usage: "list-providers",
    summary: "the providers that can be chosen, their model, and what is missing",
    words: [0, 0],
    flags: [...LOOK_FLAGS, NAMES],
    examples: ["list-providers", "list-providers --json"],
    run: async (given, context) => (await import("./list.ts")).listProviders(given, context),
  },
  {
    name: "trust",
    usage: "trust [FILE ...]",
    summary: "what needs your trust: a project's config and agents, and tool modules; give it or take it",
    words: [0, 100],
    flags: [
      { name: "all", summary: "every file that waits for a decision" },
      { name: "yes", short: "y", summary: "do not ask" },
      { name: "refuse", summary: "never load it as it is now, and do not mention it" },
      { name: "revoke", summary: "forget what was decided" },
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
      "Without FILE it lists them and changes nothing. Trust is for the content as it is now: a file that changed has to be",
      "trusted again. It is kept in your state directory, outside of every workspace.",
    ],
    takes: "trustable",
    run: async (given, context) => (await import("./trust.ts")).runTrust(given, context),
  },
  {
    name: "doctor",
    usage: "doctor [policies]",
    summary: "check configuration, providers, logins, agents, tools and sandbox; say what to do",
    words: [0, 1],
    flags: [
      ...TEAM_FLAGS,
      { name: "upgrade-namespaces", summary: "with policies: name tools in rules as demian.TOOL" },
      { name: "write", summary: "with policies: change the file, and keep the old one beside it" },
    ],
    examples: [
      "doctor",
      "doctor --json",
      "doctor policies --upgrade-namespaces",
      "doctor policies --upgrade-namespaces --write",
    ],
    notes: [
      "Uses no network. Exit status: 0 all well or only warnings, 1 something fails.",
      "`doctor policies` looks at the permission rules of your config file (or the one of --config): rules name tools",
      "of demian as `bash` or as `demian.bash`. --upgrade-namespaces shows what would become the second form.",
    ],
    completes: ["policies"],
    run: async (given, context) => (await import("./doctor.ts")).runDoctor(given, context),
  },
];

/** Commands that main.ts carries out itself. */
export const OWN_COMMANDS = [
  {
    name: "completion",
    usage: `completion ${SHELLS.join("|")}`,
    summary: "print a completion script for your shell",
  },
  { name: "help", usage: "help [COMMAND]", summary: "this text, or more about a command" },
] as const;

export const COMMAND_NAMES: readonly string[] = [...COMMANDS, ...OWN_COMMANDS].map(({ name }) => name);

export function findCommand(name: string): Command | undefined {
  return COMMANDS.find((command) => command.name === name);
}
