// The questions that Claude Code has for the person (its tool AskUserQuestion), one after the other.
import * as z from "zod";
import type { ExternalTurn } from "../types.ts";

const Questions = z.object({
  questions: z
    .array(
      z.object({
        question: z.string().min(1),
        multiSelect: z.boolean().optional(),
        options: z.array(z.object({ label: z.string(), description: z.string().optional() })).default([]),
      }),
    )
    .min(1),
});

/** The answers by question; undefined: nobody answered, or nobody can. */
export async function askUser(
  input: Readonly<Record<string, unknown>>,
  ask: ExternalTurn["question"],
  signal: AbortSignal,
): Promise<Record<string, string> | undefined> {
  const asked = Questions.safeParse(input);
  if (!asked.success || ask === undefined) return undefined;
  const answers: Record<string, string> = {};
  for (const { question, multiSelect, options } of asked.data.questions) {
    const several = multiSelect === true ? " (several are possible: name them)" : "";
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
