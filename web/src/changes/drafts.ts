// Comments on changes that were not sent yet: kept per session in this tab, so that they survive a reload.
import {
  type ChangeComment,
  makeCommentId,
  parseComments,
  putComment,
  removeComments,
} from "../../../src/client/view/change-comments.ts";
import type { Selection } from "./selection.ts";

const KEPT = "blemees.comments.";

/** The comment in the form. A new one has a selection, which may still be extended. */
export interface CommentDraft {
  comment: ChangeComment;
  selection?: Selection;
  /** The form is in the review, not below the line. */
  isInReview: boolean;
}

export class Drafts {
  readonly #sessionId: string;
  readonly #onChange: () => void;
  #comments: readonly ChangeComment[];
  #draft: CommentDraft | undefined;

  constructor(sessionId: string, onChange: () => void) {
    this.#sessionId = sessionId;
    this.#onChange = onChange;
    this.#comments = parseComments(sessionStorage.getItem(KEPT + sessionId));
  }

  get comments(): readonly ChangeComment[] {
    return this.#comments;
  }

  get draft(): CommentDraft | undefined {
    return this.#draft;
  }

  /** What was written so far becomes a comment, never lost. */
  write(place: Omit<ChangeComment, "id" | "text">, selection: Selection): void {
    this.#finish();
    const id = makeCommentId(this.#comments);
    this.#draft = { comment: { ...place, id, text: "" }, selection, isInReview: false };
    this.#onChange();
  }

  /** The same comment about other lines. */
  move(place: Omit<ChangeComment, "id" | "text">, selection: Selection): void {
    if (this.#draft === undefined) return;
    this.#draft = { ...this.#draft, comment: { ...this.#draft.comment, ...place }, selection };
    this.#onChange();
  }

  edit(comment: ChangeComment, isInReview: boolean): void {
    this.#finish();
    this.#draft = { comment, isInReview };
    this.#onChange();
  }

  input(text: string): void {
    if (this.#draft === undefined) return;
    this.#draft = { ...this.#draft, comment: { ...this.#draft.comment, text } };
    this.#onChange();
  }

  save(): void {
    this.#finish();
    this.#onChange();
  }

  cancel(): void {
    this.#draft = undefined;
    this.#onChange();
  }

  /** Those that were sent, or all of them. */
  remove(removed: readonly ChangeComment[]): void {
    if (removed.some(({ id }) => id === this.#draft?.comment.id)) this.#draft = undefined;
    this.#set(removeComments(this.#comments, removed));
    this.#onChange();
  }

  #finish(): void {
    const draft = this.#draft;
    this.#draft = undefined;
    if (draft !== undefined) this.#set(putComment(this.#comments, draft.comment));
  }

  #set(comments: readonly ChangeComment[]): void {
    this.#comments = comments;
    if (comments.length === 0) sessionStorage.removeItem(KEPT + this.#sessionId);
    else sessionStorage.setItem(KEPT + this.#sessionId, JSON.stringify(comments));
  }
}
