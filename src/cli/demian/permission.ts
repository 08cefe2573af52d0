// Asks the person at the terminal whether a tool may do what it wants. Anything but a clear yes is no.
import { revealLine } from "../../base/sanitize.ts";
import { promptLines } from "../../runtime/permissions/prompt.ts";
import type { Asker, PermissionAnswer, PermissionPrompt } from "../../runtime/permissions/types.ts";
import type { UserQuestion } from "../../runtime/tools/types.ts";
import { BAR_WIDTH, behindBar, cutTo } from "../bar.ts";
import type { Screen } from "./screen.ts";
import type { Terminal } from "./terminal.ts";

export interface AskerOptions {
  screen: Screen;
  /** Somebody to ask; undefined: nobody is there. */
  terminal(): Terminal | undefined;
  /** `/exit` was the answer. */
  leave?(): void;
  /** Ctrl-C was. */
  interrupt?(): void;
}

const NOBODY = "nobody could be asked (no terminal); allow it with --yes or with";
const NOBODY_TO_WIDEN =
  "nobody could be asked (no terminal); its own rules deny it, so only a person can allow it, and --yes does not";
const ITS_RULE = "a rule under `permissions` in ~/.demian/config.json";
const ITS_INVOCATION = "`delegation.invocationDecision` of that agent";

export function createAsker({ screen, terminal, leave, interrupt }: AskerOptions): Asker {
  return async (prompt, signal) => {
    const keyboard = terminal();
    if (keyboard === undefined) {
      screen.ask(`✗ ${cutTo(whoWants(prompt), 120)}: ${nobodyText(prompt)}`);
      return { decision: "deny", by: "nobody" };
    }
    screen.ask(shownLines(prompt, screen.columns).join("\n"));
    for (;;) {
      const said = await keyboard.ask({ prompt: choicesOf(prompt), isFresh: true, signal });
      if (said.kind === "aborted") return { decision: "deny", stop: true };
      if (said.kind === "interrupt") {
        interrupt?.();
        return { decision: "deny", stop: true };
      }
      if (said.kind === "line" && isWholeWanted(said.text, prompt)) {
        screen.ask(shownLines(prompt, screen.columns, true).join("\n"));
        continue;
      }
      const answer = said.kind === "end" ? REFUSED : answerOf(said.text, prompt.always !== undefined);
      if (answer === "leave") {
        leave?.();
        return { decision: "deny", stop: true };
      }
      if (typeof answer !== "string") return answer;
      screen.ask(answer);
    }
  };
}

function nobodyText({ invocation, widens }: PermissionPrompt): string {
  if (widens === true) return NOBODY_TO_WIDEN;
  return `${NOBODY} ${invocation === undefined ? ITS_RULE : ITS_INVOCATION}`;
}

/** `reviewer > linter -> bash: ls`; of the main agent only what it wants. */
function whoWants({ agentPath = [], title }: PermissionPrompt): string {
  const path = agentPath.map(revealLine).join(" > ");
  return path === "" ? revealLine(title) : `${path} -> ${revealLine(title)}`;
}

const REFUSED: PermissionAnswer = { decision: "deny" };

/** A text: what to tell before it is asked again. */
export function answerOf(text: string, offersAlways: boolean): PermissionAnswer | "leave" | string {
  const said = text.trim();
  const word = said.toLowerCase();
  if (word === "") return REFUSED;
  if (word === "y" || word === "yes") return { decision: "allow" };
  if (word === "a" || word === "always") {
    if (offersAlways) return { decision: "allow", always: true };
    return "always is not offered for this: y or n";
  }
  if (word === "/stop") return { decision: "deny", stop: true };
  if (word === "/exit" || word === "/quit") return "leave";
  const [, refusal, reason = ""] = /^(no?)(?:[\s,:]+(.*))?$/is.exec(said) ?? [];
  if (refusal !== undefined) return reason === "" ? REFUSED : { decision: "deny", reason };
  return `that is no answer: y, n${offersAlways ? ", a" : ""}, /stop, or n and what to do instead`;
}

/** Of a long change or a long handoff the question shows a part. */
function isWholeWanted(text: string, { changes = [], invocation }: PermissionPrompt): boolean {
  return (changes.length > 0 || invocation !== undefined) && /^d(iff)?$/i.test(text.trim());
}

/** A row that the terminal would break by itself could begin with what looks like our own words. */
export function shownLines(prompt: PermissionPrompt, columns: number, wholeDiff = false): string[] {
  return promptLines(prompt, { wholeDiff }).flatMap((line) =>
    behindBar(line, columns).map((row, at) => (at === 0 ? row.slice(BAR_WIDTH) : row)),
  );
}

function choicesOf({ always }: PermissionPrompt): string {
  return always === undefined ? "[y]es once / [N]o: " : "[y]es once / [N]o / [a]lways: ";
}

/** A question of the agent. Undefined: nobody answered. */
export async function askQuestion(
  question: UserQuestion,
  screen: Screen,
  keyboard: Terminal | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (keyboard === undefined) return undefined;
  const { text, options = [] } = question;
  const lines = options.map((option, at) => `  ${at + 1}. ${revealLine(option)}`);
  screen.ask(["? the agent asks:", ...behindBar(revealText(text), screen.columns), ...lines].join("\n"));
  const prompt = options.length === 0 ? "answer: " : "answer (a number, or your own words): ";
  const said = await keyboard.ask({ prompt, isFresh: true, signal });
  if (said.kind !== "line" || said.text.trim() === "") return undefined;
  const chosen = /^\d+$/.test(said.text.trim()) ? options[Number(said.text.trim()) - 1] : undefined;
  return chosen ?? said.text.trim();
}

function revealText(text: string): string {
  return text.split("\n").map(revealLine).join("\n");
}
