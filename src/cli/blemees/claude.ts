// `blemees claude`: for programs that start Claude Code, such as those on the Claude Agent SDK.
import { ANY } from "../program.ts";
import type { BlemeesCommand } from "./command.ts";
import { startApart } from "./start-apart.ts";

export const CLAUDE: BlemeesCommand = {
  name: "claude",
  usage: "claude [FLAG …]",
  summary: "stand in for the claude program: stream-json, with the session in the daemon",
  words: [0, ANY],
  verbatimFrom: 0,
  examples: ["claude --version", "claude -p --input-format stream-json --output-format stream-json"],
  notes: [
    "The flags are Claude Code's; those that a session cannot have are refused. Programs on the Claude Agent SDK set",
    "`pathToClaudeCodeExecutable` to `blemees-claude`.",
  ],
  async run({ words }, context) {
    await startApart(context);
    const http = await context.connect({ isPatient: true });
    const { describeVersion, runClaude } = await import("../claude/main.ts");
    const { output, version } = context;
    if (words.length === 1 && (words[0] === "--version" || words[0] === "-v")) {
      process.stdout.write(`${await describeVersion(http, version)}\n`);
      return 0;
    }
    return runClaude(words, {
      http,
      name: `blemees-claude/${version}`,
      cwd: process.cwd(),
      input: process.stdin,
      output: process.stdout,
      signal: AbortSignal.any([context.signal, abortOnTerm()]),
      note: (text) => output.note(text),
    });
  },
};

/** How programs end claude. */
function abortOnTerm(): AbortSignal {
  const abort = new AbortController();
  process.once("SIGTERM", () => abort.abort());
  return abort.signal;
}
