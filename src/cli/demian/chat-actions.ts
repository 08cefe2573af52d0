// What the slash commands do, on the screen and in the plain chat.
import { CodedError } from "../../base/coded-error.ts";
import { expandPrompt, type PromptCommand } from "../../runtime/prompts.ts";
import type { CompactReport } from "../../runtime/session-types.ts";
import type { DriverCommand } from "../../tui/types.ts";
import { CHAT_COMMANDS } from "./chat-commands.ts";
import { type Choices, MAX_LISTED } from "./choices.ts";

export interface CommandActions {
  stop(): Promise<void>;
  compact(): Promise<string>;
  /** Names the conversation, or returns its name. */
  rename(name: string): Promise<string>;
  /** What the model is given. */
  context(): Promise<string>;
  /** The MCP servers of the session. */
  mcp(word: string): Promise<string>;
  usePlan(text: string): Promise<void>;
  /** Lists background commands, or ends one. */
  jobs(word: string): Promise<string>;
  /** Attaches an image to the next message. Returns its label. */
  attach(path: string | undefined): Promise<string>;
  undo(order: { force?: boolean }): Promise<string>;
  /** What the model thought. */
  thinking(): string;
  /** Lists the sub-agents. */
  agents(): string;
  say(text: string): void;
  /** Without an argument: lets the user choose (`p`, `m`, `a`, `e`). Absent: lists the options. */
  ask?(key: string): Promise<void>;
  choices: Choices;
}

/** Handled by the screen itself. */
const SCREEN_COMMANDS: ReadonlySet<string> = new Set(["/help", "/exit"]);

export function createCommands(deeds: CommandActions): readonly DriverCommand[] {
  const runs = createActions(deeds);
  return CHAT_COMMANDS.flatMap(({ name, usage, summary, isForRunning }) => {
    const run = runs[name];
    if (SCREEN_COMMANDS.has(name) || run === undefined) return [];
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
              `${name} takes no arguments (to send it as text, start with a space)`,
            );
          }
          await run(word);
        },
      },
    ];
  });
}

/** Own commands send a message; built-in ones of the same name win. */
export function createOwnCommands(
  commands: readonly PromptCommand[],
  send: (text: string) => Promise<void>,
): readonly DriverCommand[] {
  return commands
    .filter(({ name }) => CHAT_COMMANDS.every((known) => known.name !== `/${name}`))
    .map((command) => ({
      name: `/${command.name}`,
      summary: command.description ?? `own command (${command.scope})`,
      isAlways: true,
      run: async (rest: string) => {
        const text = expandPrompt([command], `/${command.name} ${rest}`);
        if (text !== undefined) await send(text);
      },
    }));
}

/** The result of /compact, shown in the feed. */
export function formatCompactReport(report: CompactReport | undefined): string {
  if (report === undefined) return "nothing to compact yet";
  const { beforeTokens, afterTokens, kept, dropped, summaryTokens } = report;
  return [
    "compacted the conversation:",
    `  tokens    about ${beforeTokens} before, ${afterTokens} after`,
    `  messages  ${kept} kept, ${dropped} summarized`,
    `  summary   about ${summaryTokens} tokens`,
  ].join("\n");
}

function createActions(deeds: CommandActions): Readonly<Record<string, (word: string) => Promise<void>>> {
  const { choices, say, ask = (key: string) => listOptions(choices, key, say) } = deeds;
  return {
    "/stop": () => deeds.stop(),
    "/compact": async () => say(await deeds.compact()),
    "/name": async (word) => say(await deeds.rename(word)),
    "/context": async () => say(await deeds.context()),
    "/mcp": async (word) => say(await deeds.mcp(word)),
    "/provider": (word) => (word === "" ? ask("p") : choices.provider(word)),
    "/model": (word) => (word === "" ? ask("m") : choices.model(word)),
    "/effort": (word) => (word === "" ? ask("e") : choices.effort(word)),
    "/agent": (word) => (word === "" ? ask("a") : choices.agent(word)),
    "/thinking": async () => say(deeds.thinking()),
    "/agents": async () => say(deeds.agents()),
    "/jobs": async (word) => say(await deeds.jobs(word)),
    "/image": async (word) =>
      say(`${await deeds.attach(word === "" ? undefined : word)} is sent with your next message`),
    "/undo": async (word) => {
      if (word !== "" && word !== "force") throw new CodedError("bad_command", "use /undo or /undo force");
      say(await deeds.undo(word === "force" ? { force: true } : {}));
    },
    "/use-plan": (word) => deeds.usePlan(word),
  };
}

async function listOptions(choices: Choices, key: string, say: (text: string) => void): Promise<void> {
  const picker = choices.pickers.find((one) => one.key === key);
  const options = (await picker?.load()) ?? [];
  const lines = options.map(({ label, detail = "", isCurrent, problem }) =>
    `${isCurrent ? "*" : " "} ${label}  ${problem === undefined ? detail : `not ready: ${problem}`}`.trimEnd(),
  );
  const most = lines.slice(0, MAX_LISTED);
  if (lines.length > most.length) most.push(`  … and ${lines.length - most.length} more`);
  say([...most, `press ${key} with an empty line to select one`].join("\n"));
}
