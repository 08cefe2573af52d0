// `run` and `wire`: the commands that use the socket protocol. Its code is loaded only when they run.

import type { Flag } from "../command.ts";
import { ANY } from "../program.ts";
import { BLEMEESCTL_WORDS } from "../request-text.ts";
import { RUN as RUN_VERB } from "../wire/verbs.ts";
import type { BlemeesCommand } from "./command.ts";

const isOwnFlag = ({ name }: Flag): boolean => name !== "quiet";

export const RUN: BlemeesCommand = {
  name: "run",
  usage: RUN_VERB.usage,
  summary: "run one turn of an agent, stream the answer, and close the session",
  words: RUN_VERB.words,
  flags: (RUN_VERB.flags ?? []).filter(isOwnFlag),
  examples: ['run "what does this project do?"', "git diff | sm run --backend codex -"],
  notes: [
    "On a terminal you answer requests by typing accept, decline, … here. The session can be resumed later.",
  ],
  async run(given, context) {
    const { socket } = await context.connect();
    const { createContext, runVerb } = await import("../wire/main.ts");
    const { program } = context.words;
    const shell = createContext(given, { name: program, version: context.version });
    const words = shell.readLines === undefined ? context.words : { ...BLEMEESCTL_WORDS, program };
    const { output, isJson, signal, readInput } = context;
    return runVerb(RUN_VERB, given, {
      ...shell,
      ...{ output, isJson, signal, readInput, words },
      daemon: { socket, client: `${program}/${context.version}` },
    });
  },
};

export const WIRE: BlemeesCommand = {
  name: "wire",
  usage: "wire [COMMAND …]",
  summary: "speak the socket protocol by hand: a prompt, or one command; `wire --help` lists them",
  words: [0, ANY],
  verbatimFrom: 0,
  examples: ["wire", "wire status --json", "wire --help"],
  async run({ words }, context) {
    const { main } = await import("../wire/main.ts");
    return main(words, { name: `${context.words.program} wire`, version: context.version });
  },
};
