// The state of a question form, and the answers made from it.
import type { Question } from "../../../src/protocol/requests.ts";

/** One question: the chosen labels and a custom answer. */
export interface Filled {
  labels: readonly string[];
  isOther: boolean;
  other: string;
}

export const EMPTY: Filled = { labels: [], isOther: false, other: "" };

/** Questions without options take free text. */
export function takesText({ options = [], allows_other }: Question): boolean {
  return options.length === 0 || allows_other === true;
}

export function choose(question: Question, filled: Filled, label: string, isChosen: boolean): Filled {
  if (question.multi_select !== true) return { ...filled, labels: isChosen ? [label] : [], isOther: false };
  const others = filled.labels.filter((each) => each !== label);
  return { ...filled, labels: isChosen ? [...others, label] : others };
}

export function write(question: Question, filled: Filled, other: string): Filled {
  const isSingle = question.multi_select !== true;
  return { labels: isSingle && other !== "" ? [] : filled.labels, isOther: other !== "", other };
}

/** Undefined if not answered yet. */
export function readAnswer(question: Question, filled: Filled): string | string[] | undefined {
  const hasOptions = (question.options ?? []).length > 0;
  const own = (!hasOptions || filled.isOther) && filled.other !== "" ? [filled.other] : [];
  // In the order of the options.
  const labels = (question.options ?? [])
    .map(({ label }) => label)
    .filter((label) => filled.labels.includes(label));
  const all = [...labels, ...own];
  if (all.length === 0) return undefined;
  return question.multi_select === true ? all : all[0];
}

/** Undefined if any question is unanswered. */
export function readAnswers(
  questions: readonly Question[],
  filled: ReadonlyMap<string, Filled>,
): Record<string, string | string[]> | undefined {
  const answers: [string, string | string[]][] = [];
  for (const question of questions) {
    const answer = readAnswer(question, filled.get(question.id) ?? EMPTY);
    if (answer === undefined) return undefined;
    answers.push([question.id, answer]);
  }
  return Object.fromEntries(answers);
}
