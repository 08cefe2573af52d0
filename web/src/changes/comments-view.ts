// Comments on changed lines: the form, a comment in its place, and the bar from which all are sent as one message.
import { html, nothing, type TemplateResult } from "lit";
import { reveal, sanitize, sanitizeLine } from "../../../src/base/sanitize.ts";
import {
  type ChangeComment,
  type CommentPlace,
  describePlace,
  formatComments,
} from "../../../src/client/view/change-comments.ts";

export interface FormContext {
  place: CommentPlace;
  text: string;
  isNew: boolean;
  /** Makes the selection longer by a line: there may be neither mouse nor keyboard. */
  extend(by: 1 | -1): void;
  input(text: string): void;
  save(): void;
  cancel(): void;
}

export function commentForm({
  place,
  text,
  isNew,
  extend,
  input,
  save,
  cancel,
}: FormContext): TemplateResult {
  return html`<form class="comment-form" @submit=${(event: Event) => {
    event.preventDefault();
    save();
  }} @keydown=${(event: KeyboardEvent) => {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Escape") cancel();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }}>
    <label class="comment-place" for="comment-text">${sanitizeLine(describePlace(place))}</label>
    <textarea id="comment-text" class="comment-text" rows="3" placeholder="Comment for the agent" .value=${text} @input=${(
      event: Event,
    ) => input((event.currentTarget as HTMLTextAreaElement).value)}></textarea>
    <div class="comment-actions">
      ${isNew ? html`<button type="button" class="quiet small" @click=${() => extend(-1)}>One line less</button>` : nothing}
      ${isNew ? html`<button type="button" class="quiet small" @click=${() => extend(1)}>One more line</button>` : nothing}
      <button type="button" class="quiet" @click=${cancel}>Cancel</button>
      <button type="submit" class="primary" ?disabled=${text.trim() === ""}>${isNew ? "Add comment" : "Save"}</button>
    </div>
  </form>`;
}

export interface CommentActions {
  edit(comment: ChangeComment): void;
  remove(comment: ChangeComment): void;
  /** The form, if this comment is being edited here. */
  form(comment: ChangeComment): TemplateResult | undefined;
}

/** Below the line it is about. */
export function commentView(comment: ChangeComment, actions: CommentActions): TemplateResult {
  const form = actions.form(comment);
  if (form !== undefined) return form;
  return html`<div class="comment" role="note" aria-label=${`Comment on ${sanitizeLine(describePlace(comment))}`}>
    <p class="comment-words plain">${sanitize(comment.text)}</p>
    ${commentButtons(comment, actions)}
  </div>`;
}

export interface BarContext extends CommentActions {
  comments: readonly ChangeComment[];
  isWorking: boolean;
  isBlocked: boolean;
  isSending: boolean;
  isReviewing: boolean;
  problem: string;
  review(): void;
  send(): void;
  discard(): void;
}

export function commentsBar(context: BarContext): TemplateResult | typeof nothing {
  const { comments, isWorking, isBlocked, isSending, isReviewing, problem } = context;
  if (comments.length === 0) return nothing;
  const count = comments.length === 1 ? "1 comment" : `${comments.length} comments`;
  return html`<section class="comments-bar" aria-label="Comments">
    ${isReviewing ? reviewView(context) : nothing}
    ${problem === "" ? nothing : html`<p class="error-text" role="alert">${sanitize(problem)}</p>`}
    <div class="comment-actions">
      <span class="comments-count">${count}${isBlocked ? html`<span class="comments-hint">, sent after you answer the pending request</span>` : nothing}</span>
      <button type="button" class="quiet danger" @click=${context.discard}>Discard</button>
      <button type="button" aria-expanded=${isReviewing} @click=${context.review}>${isReviewing ? "Close" : "Review"}</button>
      <button type="button" class="primary" ?disabled=${isBlocked || isSending} @click=${context.send}>${isSending ? "Sending…" : isWorking ? "Queue" : "Send"}</button>
    </div>
  </section>`;
}

function reviewView({ comments, ...actions }: BarContext): TemplateResult {
  return html`<div class="comments-review">
    <ul>
      ${comments.map(
        (comment) => html`<li class="comment">
          ${
            actions.form(comment) ??
            html`<p class="comment-place">${sanitizeLine(describePlace(comment))}</p>
              <p class="comment-words plain">${sanitize(comment.text)}</p>
              ${commentButtons(comment, actions)}`
          }
        </li>`,
      )}
    </ul>
    <h3>The message</h3>
    <pre class="exact" tabindex="0">${reveal(formatComments(comments))}</pre>
  </div>`;
}

function commentButtons(
  comment: ChangeComment,
  { edit, remove }: Pick<CommentActions, "edit" | "remove">,
): TemplateResult {
  return html`<div class="comment-actions">
    <button type="button" class="quiet small" @click=${() => edit(comment)}>Edit</button>
    <button type="button" class="quiet small" @click=${() => remove(comment)}>Remove</button>
  </div>`;
}
