// The questions of a request as a form: options, free text, secrets.
import { html, nothing, type TemplateResult } from "lit";
import { reveal } from "../../../src/base/sanitize.ts";
import type { Question } from "../../../src/protocol/requests.ts";
import { choose, EMPTY, type Filled, takesText, write } from "./answers.ts";

export interface FormContext {
  /** Makes input names unique. */
  id: string;
  filled: ReadonlyMap<string, Filled>;
  isDisabled: boolean;
  fill(question: Question, filled: Filled): void;
}

export function questionForm(questions: readonly Question[], context: FormContext): TemplateResult[] {
  return questions.map((question, index) => questionView(question, `${context.id}-${index}`, context));
}

function questionView(question: Question, name: string, context: FormContext): TemplateResult {
  const filled = context.filled.get(question.id) ?? EMPTY;
  const options = question.options ?? [];
  return html`<fieldset class="question" ?disabled=${context.isDisabled}>
    <legend>
      ${question.header === undefined ? nothing : html`<span class="question-header">${reveal(question.header)}</span>`}
      ${reveal(question.question)}
    </legend>
    ${options.map(
      ({ label, description }) => html`<label class="option">
        <input
          type=${question.multi_select ? "checkbox" : "radio"}
          name=${name}
          .checked=${filled.labels.includes(label)}
          @change=${(event: Event) =>
            context.fill(
              question,
              choose(question, filled, label, (event.currentTarget as HTMLInputElement).checked),
            )}
        />
        <span>${reveal(label)}</span>
        ${description === undefined ? nothing : html`<span class="option-about">${reveal(description)}</span>`}
      </label>`,
    )}
    ${takesText(question) ? freeText(question, name, filled, options.length > 0, context) : nothing}
  </fieldset>`;
}

function freeText(
  question: Question,
  name: string,
  filled: Filled,
  isOther: boolean,
  context: FormContext,
): TemplateResult {
  const onInput = (event: Event): void =>
    context.fill(question, write(question, filled, (event.currentTarget as HTMLInputElement).value));
  const label = isOther ? "Other" : "Your answer";
  return html`<label class="option own" for=${`${name}-own`}>
    <span>${label}</span>
    ${
      question.is_secret
        ? html`<input id=${`${name}-own`} type="password" autocomplete="off" .value=${filled.other} @input=${onInput} />`
        : html`<textarea id=${`${name}-own`} rows="2" autocomplete="off" .value=${filled.other} @input=${onInput}></textarea>`
    }
  </label>`;
}
