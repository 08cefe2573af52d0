// Asks the user at the terminal for permission. Anything but a clear yes is no.
import { revealLine } from "../../base/sanitize.ts";
import { formatPromptLines } from "../../runtime/permissions/prompt.ts";
import type { Asker, PermissionAnswer, PermissionPrompt } from "../../runtime/permissions/types.ts";
import type { UserQuestion } from "../../runtime/tools/types.ts";
import { BAR_WIDTH, drawBarLines, truncate } from "../bar.ts";
import type { Screen } from "./screen.ts";
import type { Terminal } from "./terminal.ts";

export interface AskerOptions {
  screen: Screen;
  /** Undefined if there is no terminal. */
  terminal(): Terminal | undefined;
  /** Called for the answer `/exit`. */
  leave?(): void;
  /** Called for Ctrl-C. */
  interrupt?(): void;
}

const NO_TERMINAL = "denied, because there is no terminal to ask on; allow it with --yes or with";
const NO_TERMINAL_TO_WIDEN =
  "denied, because there is no terminal to ask on; its own rules deny it, so only you can allow it, not --yes";
const ITS_RULE = "a rule under `permissions` in ~/.demian/config.json";
const ITS_INVOCATION = "`delegation.invocationDecision` of that agent";

export function createAsker({ screen, terminal, leave, interrupt }: AskerOptions): Asker {
  return async (prompt, signal) => {
    const keyboard = terminal();
    if (keyboard === undefined) {
      screen.ask(`✗ ${truncate(formatRequester(prompt), 120)}: ${explainDenial(prompt)}`);
      return { decision: "deny", by: "nobody" };
    }
    screen.ask(formatPrompt(prompt, screen.columns).join("\n"));
    for (;;) {
      const said = await keyboard.ask({ prompt: formatChoices(prompt), isFresh: true, signal });
      if (said.kind === "aborted") return { decision: "deny", stop: true };
      if (said.kind === "interrupt") {
        interrupt?.();
        return { decision: "deny", stop: true };
      }
      if (said.kind === "line" && isWholeWanted(said.text, prompt)) {
        screen.ask(formatPrompt(prompt, screen.columns, true).join("\n"));
        continue;
      }
      const answer = said.kind === "end" ? DENIED : readAnswer(said.text, prompt.always !== undefined);
      if (answer === "leave") {
        leave?.();
        return { decision: "deny", stop: true };
      }
      if (typeof answer !== "string") return answer;
      screen.ask(answer);
    }
  };
}

function explainDenial({ invocation, widens }: PermissionPrompt): string {
  if (widens === true) return NO_TERMINAL_TO_WIDEN;
  return `${NO_TERMINAL} ${invocation === undefined ? ITS_RULE : ITS_INVOCATION}`;
}

/** For example `reviewer > linter -> bash: ls`; for the main agent only `bash: ls`. */
function formatRequester({ agentPath = [], title }: PermissionPrompt): string {
  const path = agentPath.map(revealLine).join(" > ");
  return path === "" ? revealLine(title) : `${path} -> ${revealLine(title)}`;
}

const DENIED: PermissionAnswer = { decision: "deny" };

/** Returns a text to show before asking again if the answer is invalid. */
export function readAnswer(text: string, offersAlways: boolean): PermissionAnswer | "leave" | string {
  const said = text.trim();
  const word = said.toLowerCase();
  if (word === "") return DENIED;
  if (word === "y" || word === "yes") return { decision: "allow" };
  if (word === "a" || word === "always") {
    if (offersAlways) return { decision: "allow", always: true };
    return "always is not available here; answer y or n";
  }
  if (word === "/stop") return { decision: "deny", stop: true };
  if (word === "/exit" || word === "/quit") return "leave";
  const [, refusal, reason = ""] = /^(no?)(?:[\s,:]+(.*))?$/is.exec(said) ?? [];
  if (refusal !== undefined) return reason === "" ? DENIED : { decision: "deny", reason };
  return `answer y, n${offersAlways ? ", a" : ""} or /stop, or n followed by what to do instead`;
}

/** A long diff or handoff is cut in the prompt; `d` shows all of it. */
function isWholeWanted(text: string, { changes = [], invocation }: PermissionPrompt): boolean {
  return (changes.length > 0 || invocation !== undefined) && /^d(iff)?$/i.test(text.trim());
}

/** Wraps lines itself: a line broken by the terminal could pass for text of demian's own. */
export function formatPrompt(prompt: PermissionPrompt, columns: number, wholeDiff = false): string[] {
  return formatPromptLines(prompt, { wholeDiff }).flatMap((line) =>
    drawBarLines(line, columns).map((row, at) => (at === 0 ? row.slice(BAR_WIDTH) : row)),
  );
}

function formatChoices({ always }: PermissionPrompt): string {
  return always === undefined ? "[y]es once / [N]o: " : "[y]es once / [N]o / [a]lways: ";
}

/** Asks the agent's question. Undefined if there is no answer. */
export async function askQuestion(
  question: UserQuestion,
  screen: Screen,
  keyboard: Terminal | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (keyboard === undefined) return undefined;
  const { text, options = [] } = question;
  const lines = options.map((option, at) => `  ${at + 1}. ${revealLine(option)}`);
  screen.ask(
    ["? Question from the agent:", ...drawBarLines(revealText(text), screen.columns), ...lines].join("\n"),
  );
  const prompt = options.length === 0 ? "answer: " : "answer (a number or text): ";
  const said = await keyboard.ask({ prompt, isFresh: true, signal });
  if (said.kind !== "line" || said.text.trim() === "") return undefined;
  const chosen = /^\d+$/.test(said.text.trim()) ? options[Number(said.text.trim()) - 1] : undefined;
  return chosen ?? said.text.trim();
}

function revealText(text: string): string {
  return text.split("\n").map(revealLine).join("\n");
}
