// What may be typed behind a slash with `--daemon`: before there is a session what chooses for it, then what can be done
// to it, and `/compact`, which demian takes as a message.
import { CodedError } from "../../../base/coded-error.ts";
import type { HttpClient } from "../../../client/index.ts";
import { COMPACT } from "../../../runtime/acp/commands.ts";
import type { Runtime } from "../../../runtime/session-types.ts";
import type { DriverCommand, SessionDriver } from "../../../tui/types.ts";
import { CHAT_COMMANDS } from "../chat-commands.ts";
import { noPlan } from "../plan-words.ts";
import { subAgentLines } from "../sub-agents.ts";
import type { Choices } from "./choices.ts";
import { commandsOf, compactBlock } from "./commands.ts";

export interface EarlyParts {
  runtime: Runtime;
  choices: Choices;
  say(text: string): void;
}

export function earlyCommands({ runtime, choices, say }: EarlyParts): readonly DriverCommand[] {
  return commandsOf({
    choices,
    say,
    agents: () => subAgentLines(runtime, choices.main).join("\n"),
    stop: async () => say("no task is running"),
    compact: () => Promise.resolve(compactBlock(undefined)),
    usePlan: () => Promise.reject(new CodedError("no_plan", noPlan("press p"))),
  });
}

export function lateCommands(session: SessionDriver, http: HttpClient): readonly DriverCommand[] {
  const summary = CHAT_COMMANDS.find(({ name }) => name === COMPACT)?.summary ?? "";
  const compact: DriverCommand = {
    name: COMPACT,
    summary,
    async run(rest) {
      if (rest.trim() !== "") {
        throw new CodedError("bad_command", `${COMPACT} takes no arguments`);
      }
      const { turn, queued } = await http.session(session.session_id);
      // The screen refuses it too, but others talk to the session as well.
      if (turn !== undefined || queued > 0) {
        throw new CodedError(
          "session_busy",
          `${COMPACT} works when no turn runs: wait, or Ctrl-C interrupts`,
        );
      }
      await session.send(COMPACT);
    },
  };
  return [compact, ...session.commands];
}
