// `sm pr`: pushes a session's branch and opens a pull request. For people only: what leaves the machine is not an agent's
// decision.
import { defineFlag, UsageError } from "../command.ts";
import type { BlemeesCommand } from "./command.ts";

export const PR: BlemeesCommand = {
  name: "pr",
  usage: "pr ID",
  summary: "push the branch of a session and open a pull request, after showing what goes where",
  words: [1, 1],
  completes: "session",
  flags: [
    defineFlag("--title TEXT", "default: the only commit's subject, or the session's title"),
    defineFlag("--body TEXT", "default: the subjects of the commits"),
    defineFlag("--base BRANCH", "the branch to merge into (default: the remote's main branch)"),
    defineFlag("--remote NAME", "default: origin"),
    defineFlag("--commit MESSAGE", "first commit everything that is changed"),
    defineFlag("--draft", "open it as a draft"),
    defineFlag("-y, --yes", "do not ask for confirmation"),
  ],
  examples: ["pr fixer", 'pr fixer --commit "Fix the login test" --draft'],
  notes: [
    "Opens it with gh or glab if installed, otherwise prints the link of the page that compares the branches. Uses your git",
    "configuration and credentials; hooks of the repository do not run.",
  ],
  async run(given, context) {
    if (context.self !== undefined)
      throw new UsageError(`an agent may not push; ask a person to run: sm pr ${given.words[0] ?? ""}`);
    return (await import("./pr/run.ts")).openForSession(given, context);
  },
};
