// What may be typed behind a slash on the screen: the commands of the plain talk, with the same words.
import { CodedError } from "../../../base/coded-error.ts";
import type { CompactReport } from "../../../runtime/session-types.ts";
import type { DriverCommand } from "../../../tui/types.ts";
import { CHAT_COMMANDS } from "../chat-commands.ts";
import type { Choices } from "./choices.ts";

export interface Deeds {
  stop(): Promise<void>;
  compact(): Promise<string>;
  usePlan(text: string): Promise<void>;
  /** Whom the main agent may give work to. */
  agents(): string;
  say(text: string): void;
  choices: Choices;
}

/** These are the screen's own. */
const OF_SCREEN: ReadonlySet<string> = new Set(["/help", "/exit"]);

export function commandsOf(deeds: Deeds): readonly DriverCommand[] {
  const runs = runsOf(deeds);
  return CHAT_COMMANDS.flatMap(({ name, usage, summary, isForRunning }) => {
    const run = runs[name];
    if (OF_SCREEN.has(name) || run === undefined) return [];
    const takesWord = usage.includes("[");
    return [
      {
        name,
        summary,
        ...(isForRunning ? { isAlways: true } : {}),
        run: async (rest: string) => {
          const word = rest.trim();
          if (word !== "" && !takesWord) {
            throw new CodedError(
              "bad_command",
              `${name} takes no arguments (to send this as text, put a space before it)`,
            );
          }
          await run(word);
        },
      },
    ];
  });
}

/** §13: the local block that says what became of the conversation. */
export function compactBlock(report: CompactReport | undefined): string {
  if (report === undefined) return "there is too little to compact";
  const { beforeTokens, afterTokens, kept, dropped, summaryTokens } = report;
  return [
    "compacted the conversation:",
    `  tokens    about ${beforeTokens} before, ${afterTokens} after`,
    `  messages  ${kept} kept, ${dropped} dropped`,
    `  summary   about ${summaryTokens} tokens`,
  ].join("\n");
}

function runsOf(deeds: Deeds): Readonly<Record<string, (word: string) => Promise<void>>> {
  const { choices, say } = deeds;
  return {
    "/stop": () => deeds.stop(),
    "/compact": async () => say(await deeds.compact()),
    "/provider": (word) => (word === "" ? listed(choices, "p", say) : choices.provider(word)),
    "/model": (word) => (word === "" ? listed(choices, "m", say) : choices.model(word)),
    "/agent": (word) => (word === "" ? listed(choices, "a", say) : choices.agent(word)),
    "/agents": async () => say(deeds.agents()),
    "/use-plan": (word) => deeds.usePlan(word),
  };
}

async function listed(choices: Choices, key: string, say: (text: string) => void): Promise<void> {
  const picker = choices.pickers.find((one) => one.key === key);
  const options = (await picker?.load()) ?? [];
  const lines = options.map(({ label, detail = "", isCurrent, problem }) =>
    `${isCurrent ? "*" : " "} ${label}  ${problem === undefined ? detail : `not ready: ${problem}`}`.trimEnd(),
  );
  say([...lines, `${key} in an empty line chooses one`].join("\n"));
}
