// Asks the user Claude Code's questions (its tool AskUserQuestion), one at a time.
import { AskUserQuestion } from "../../../base/claude-wire/questions.ts";
import type { ExternalTurn } from "../types.ts";

/** The answers by question; undefined if there are none. */
export async function askUser(
  input: Readonly<Record<string, unknown>>,
  ask: ExternalTurn["question"],
  signal: AbortSignal,
): Promise<Record<string, string> | undefined> {
  const asked = AskUserQuestion.safeParse(input);
  if (!asked.success || ask === undefined) return undefined;
  const answers: Record<string, string> = {};
  for (const { question, multiSelect, options = [] } of asked.data.questions) {
    const several = multiSelect === true ? " (choose one or more)" : "";
    const labels = options.map(({ label }) => label);
    const answer = await ask(
      { text: `${question}${several}`, ...(labels.length === 0 ? {} : { options: labels }) },
      signal,
    );
    if (answer === undefined || signal.aborted) return undefined;
    answers[question] = answer;
  }
  return answers;
}
