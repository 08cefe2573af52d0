// demian: a command, a message or a chat. Everything but the tables is imported on demand.

import { EFFORTS } from "../../runtime/providers/effort.ts";
import { SANDBOX_MODES } from "../../runtime/sandbox/types.ts";
import type { Runtime, RuntimeOrder } from "../../runtime/session-types.ts";
import { type Arguments, didYouMean, UsageError } from "../command.ts";
import { Output } from "../output.ts";
import { formatUsageLines, type Program, runProgram } from "../program.ts";
import { CHAT_COMMANDS } from "./chat-commands.ts";
import type { DemianContext } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { COMMON_FLAGS, PROGRAM_FLAGS } from "./flags.ts";
import type { Io } from "./io.ts";

export interface MainOptions {
  /** The name it was started by: demian, demian-cli or demian-plain. */
  program: string;
  version: string;
  io: Io;
  /** Path of blemeesd, which `--daemon` starts if none is running. */
  daemonProgram?: string;
  /** For tests. */
  createRuntime?(order: RuntimeOrder): Promise<Runtime>;
}

export function main(argv: readonly string[], options: MainOptions): Promise<number> {
  return runProgram(createProgram(options), argv);
}

export function createProgram(options: MainOptions): Program<DemianContext> {
  const { program: name, version, io } = options;
  return {
    name,
    textName: "demian",
    version,
    usages: ["[FLAG …] [MESSAGE]", "COMMAND …"],
    examples: [
      [
        "",
        `${name === "demian-plain" ? "chat in plain lines" : "chat on a screen"}: choose a provider, then type`,
      ],
      ['"make the tests pass"', "send one message; print the answer on stdout"],
      ['git diff | demian "review this"', "with more text on stdin"],
      ['--agent plan --image mockup.png "how would you build this?"', "with an image"],
      ['--continue "and now the docs"', "continue the last conversation of this directory"],
      ['--yes --json "fix the linter"', "for scripts: no prompts, events as JSON"],
    ],
    groups: [{ title: "Commands", commands: COMMANDS }],
    details: [
      "In a chat:",
      ...formatUsageLines(CHAT_COMMANDS),
      "  Ctrl-C stops the task; press it twice to exit.",
      "  On the screen, while the input is empty: p selects the provider, m the model, a the agent; ? lists all keys.",
      "  With --daemon, provider, model and agent can be changed until your first message, which starts the session.",
      "  In plain mode (demian-plain, --plain, TERM=dumb), a line that ends with \\ continues on the next; Ctrl-D exits.",
    ],
    notes: [
      "Without a terminal, requests for permission are denied unless --yes or a rule in the config allows them.",
      "Exit status: 0 answered, 1 failed or incomplete, 2 usage error, 130 stopped with Ctrl-C.",
    ],
    commonFlags: COMMON_FLAGS,
    flags: PROGRAM_FLAGS,
    asks: { trustable: `${name} trust --names`, conversation: `${name} sessions --names` },
    flagAsks: {
      conversation: `${name} sessions --names`,
      agent: `${name} list-agents --main --names`,
      provider: `${name} list-providers --names`,
      effort: `printf "%s\\n" ${EFFORTS.join(" ")}`,
      sandbox: `printf "%s\\n" ${SANDBOX_MODES.join(" ")}`,
      mode: 'printf "%s\\n" single multi',
    },
    createContext: (given) => createContext(given, options),
    async runAlone(given, argv) {
      checkTypo(given, argv, name);
      const { runDefault: runTalk } = await import("./default-command.ts");
      return runTalk(given, createContext(given, options));
    },
    textNote: "a message that starts with a command name needs quotes",
    stdout: io.stdout,
    stderr: io.stderr,
  };
}

/** A single word that is nearly a command is probably a typo, not a message. */
function checkTypo({ words, flags }: Arguments, argv: readonly string[], program: string): void {
  const [word = ""] = words;
  if (words.length !== 1 || flags["prompt"] !== undefined || argv.includes("--") || /[\s/]/.test(word))
    return;
  const hint = didYouMean(word, [...COMMANDS.map(({ name }) => name), "completion", "help"]);
  if (hint === "" || word.length < 4) return;
  throw new UsageError(
    `unknown command: ${word}${hint} To send it as a message: ${program} --prompt ${word}`,
  );
}

function createContext(given: Arguments, options: MainOptions): DemianContext {
  const { program, version, io } = options;
  const { stdout, stderr, env } = io;
  return {
    program,
    version,
    io,
    daemonProgram: options.daemonProgram ?? "blemeesd",
    output: new Output({ stdout, stderr, env, isQuiet: given.flags["quiet"] === true }),
    isJson: given.flags["json"] === true,
    createRuntime: options.createRuntime ?? (given.flags["demo"] === true ? createDemo : createReal),
  };
}

const createReal: DemianContext["createRuntime"] = async (order) =>
  (await import("../../runtime/runtime.ts")).createRuntime(order);

const createDemo: DemianContext["createRuntime"] = async (order) =>
  createReal((await import("../../runtime/demo/index.ts")).asDemo(order));
