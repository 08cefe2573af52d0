// Slash commands with `--daemon`: before the session starts those that configure it, afterwards the daemon session's
// commands, `/compact` and `/context`, which are sent as messages.
import { CodedError } from "../../../base/coded-error.ts";
import type { HttpClient } from "../../../client/index.ts";
import { COMPACT, CONTEXT, MCP } from "../../../runtime/acp/commands.ts";
import type { Runtime } from "../../../runtime/session-types.ts";
import type { DriverCommand, SessionDriver } from "../../../tui/types.ts";
import { createCommands, formatCompactReport } from "../chat-actions.ts";
import { CHAT_COMMANDS } from "../chat-commands.ts";
import type { Choices } from "../choices.ts";
import { explainNoPlan } from "../plan-messages.ts";
import { formatSubAgents } from "../sub-agents.ts";

export interface EarlyOptions {
  runtime: Runtime;
  choices: Choices;
  say(text: string): void;
}

export function createEarlyCommands({ runtime, choices, say }: EarlyOptions): readonly DriverCommand[] {
  return createCommands({
    choices,
    say,
    thinking: () => "the session has not started",
    agents: () => formatSubAgents(runtime, choices.main).join("\n"),
    stop: async () => say("no task is running"),
    jobs: () => Promise.resolve("background commands are listed by the session that runs them"),
    undo: () => Promise.reject(new CodedError("no_session", "there is nothing to undo yet")),
    attach: () => Promise.reject(new CodedError("bad_image", "with --daemon, messages cannot have images")),
    compact: () => Promise.resolve(formatCompactReport(undefined)),
    rename: () =>
      Promise.reject(new CodedError("no_session", "no session yet; your first message starts it")),
    context: () => Promise.resolve("nothing yet: your first message starts the session"),
    mcp: () => Promise.resolve("nothing yet: your first message starts the session"),
    usePlan: () => Promise.reject(new CodedError("no_plan", explainNoPlan("press p"))),
  }).filter(({ name }) => name !== "/effort");
}

export function createSessionCommands(session: SessionDriver, http: HttpClient): readonly DriverCommand[] {
  const own = [COMPACT, CONTEXT, MCP].map(
    (name): DriverCommand => ({
      name,
      summary: CHAT_COMMANDS.find((command) => command.name === name)?.summary ?? "",
      async run(rest) {
        const word = rest.trim();
        if (word !== "" && name !== MCP) {
          throw new CodedError("bad_command", `${name} takes no arguments`);
        }
        const { turn, queued } = await http.session(session.session_id);
        // The screen checks this too, but other clients may use the session.
        if (turn !== undefined || queued > 0) {
          throw new CodedError(
            "session_busy",
            `${name} needs an idle session; wait, or press Ctrl-C to interrupt`,
          );
        }
        await session.send(word === "" ? name : `${name} ${word}`);
      },
    }),
  );
  return [...own, ...session.commands];
}
