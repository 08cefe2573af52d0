// <x-changes>: the Changes tab of a session: changed files with their lines, by turn, and comments for the agent.
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { sanitize, sanitizeLine } from "../../../src/base/sanitize.ts";
import {
  type ChangeComment,
  formatComments,
  isCommentEnd,
  toCommentPlace,
} from "../../../src/client/view/change-comments.ts";
import {
  type ChangesScope,
  describeNotCovered,
  explainNoChanges,
  stepTurn,
  toFileKey,
} from "../../../src/client/view/change-list.ts";
import type { ChangeLine } from "../../../src/client/view/change-rows.ts";
import type { ChangesSource, ChangesState } from "../../../src/client/view/change-source.ts";
import type { ChangedFile } from "../../../src/protocol/changes.ts";
import type { App } from "../app-types.ts";
import { keepSplit, readSplit } from "./columns.ts";
import { commentForm, commentsBar, commentView } from "./comments-view.ts";
import { Drafts } from "./drafts.ts";
import { DrawnRows } from "./drawn-rows.ts";
import { fileView } from "./file-view.ts";
import { type ChangesAction, findChangesAction, findLineAction } from "./keys.ts";
import { listOpenedFirst } from "./opened-first.ts";
import { listLines, moveSelection, pickLines, type Selection } from "./selection.ts";
import { toolbar } from "./toolbar.ts";
import { undoTurn } from "./undo.ts";

/** Two columns need room. */
const NARROW = "(max-width: 640px)";

class ChangesElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    sessionId: { attribute: false },
    source: { attribute: false },
    state: { attribute: false },
    isWorking: { attribute: false },
    isBlocked: { attribute: false },
    isSplit: { state: true },
    selection: { state: true },
    isReviewing: { state: true },
    isSending: { state: true },
    problem: { state: true },
  };
  declare app: App;
  declare sessionId: string;
  declare source: ChangesSource;
  declare state: ChangesState;
  declare isWorking: boolean;
  /** A request is pending: a message would not be sent. */
  declare isBlocked: boolean;
  declare isSplit: boolean;
  declare selection: Selection | undefined;
  declare isReviewing: boolean;
  declare isSending: boolean;
  declare problem: string;
  #drafts: Drafts | undefined;
  readonly #rows = new DrawnRows();
  readonly #narrow = matchMedia(NARROW);
  /** The list whose files were opened at once. */
  #greeted: ChangesScope | "all" | undefined;

  constructor() {
    super();
    this.isSplit = readSplit();
    this.isReviewing = false;
    this.isSending = false;
    this.problem = "";
  }

  override createRenderRoot(): HTMLElement {
    this.style.display = "contents";
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#drafts = new Drafts(this.sessionId, () => this.requestUpdate());
    addEventListener("keydown", this.#onKey);
    this.#narrow.addEventListener("change", this.#onNarrow);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#drafts?.save();
    removeEventListener("keydown", this.#onKey);
    this.#narrow.removeEventListener("change", this.#onNarrow);
  }

  override willUpdate(): void {
    const { reply, files, isLoading, turn = "all" } = this.state;
    if (reply === undefined || isLoading || this.#greeted === turn) return;
    this.#greeted = turn;
    for (const file of listOpenedFirst(files)) void this.source.openFile(file);
  }

  override render(): unknown {
    const { state, isWorking } = this;
    const { reply, files, turn, isLoading, problem, opened } = state;
    const notCovered = reply === undefined ? undefined : describeNotCovered(reply);
    const last = reply?.turns.findLast(({ files: count }) => count > 0)?.turn;
    return html`${toolbar({
      state,
      isSplit: this.#isSplitShown,
      canSplit: !this.#narrow.matches,
      canOpen: files.length > 0,
      isAllOpen: opened.size > 0,
      undone: isWorking ? undefined : typeof turn === "number" ? turn : last,
      selectTurn: (next) => void this.#selectTurn(next),
      do: (action) => this.#do(action),
      undo: (number) => void this.#undo(number),
    })}
      <div class="changes-files" aria-busy=${isLoading} @click=${this.#onClick} @keydown=${this.#onLineKey}>
        ${problem === undefined ? nothing : html`<p class="changes-note error-text" role="alert">${sanitize(problem)}</p>`}
        ${notCovered === undefined ? nothing : html`<p class="changes-note">${sanitizeLine(notCovered)}</p>`}
        ${reply === undefined && problem === undefined ? html`<p class="empty">Loading…</p>` : nothing}
        ${reply !== undefined && files.length === 0 && !isLoading ? html`<p class="empty">${sanitize(explainNoChanges(reply, turn, isWorking))}</p>` : nothing}
        ${repeat(files, toFileKey, (file) => this.#file(file))}
        ${
          reply?.next === undefined
            ? nothing
            : html`<button class="changed-more quiet" type="button" ?disabled=${isLoading} @click=${() => void this.source.readMore()}>
                ${isLoading ? "Loading…" : `Show more of ${reply.totals.files} files`}
              </button>`
        }
      </div>
      ${commentsBar({
        ...this.#commentActions(true),
        comments: this.#comments,
        isWorking,
        isBlocked: this.isBlocked,
        isSending: this.isSending,
        isReviewing: this.isReviewing,
        problem: this.problem,
        review: () => this.#do("comments"),
        send: () => void this.#send(),
        discard: () => void this.#discard(),
      })}`;
  }

  override updated(changed: PropertyValues): void {
    if (!changed.has("selection") || this.selection === undefined) return;
    const { key, to } = this.selection;
    this.#section(key)?.querySelector(`[data-at="${to}"]`)?.scrollIntoView({ block: "nearest" });
  }

  get #comments(): readonly ChangeComment[] {
    return this.#drafts?.comments ?? [];
  }

  get #isSplitShown(): boolean {
    return this.isSplit && !this.#narrow.matches;
  }

  readonly #onNarrow = (): void => this.requestUpdate();

  #file(file: ChangedFile): unknown {
    const key = toFileKey(file);
    const opened = this.state.opened.get(key);
    const comments = this.#comments.filter(({ path }) => path === file.path);
    const draft = this.#drafts?.draft;
    const isHere = draft !== undefined && !draft.isInReview && draft.comment.path === file.path;
    const selection = this.selection?.key === key ? this.selection : undefined;
    return fileView({
      file,
      opened,
      rows: opened?.reply === undefined ? [] : this.#rows.of(key, opened.reply),
      isSplit: this.#isSplitShown,
      showsTurns: typeof this.state.turn !== "number",
      comments: comments.length,
      lines: { selection, below: (line) => this.#below(file, line, comments) },
      // Not the text of the draft: typing must not draw every line again.
      dependencies: [
        selection,
        JSON.stringify(comments),
        isHere ? [draft.comment.id, draft.selection?.to, draft.comment.text.trim() === ""].join() : "",
      ],
      toggle: () => this.#toggle(file),
      showMore: () => {
        this.#rows.extend(key);
        this.requestUpdate();
      },
    });
  }

  /** The comments that end at the line, and the form of a new one. */
  #below(file: ChangedFile, line: ChangeLine, comments: readonly ChangeComment[]): unknown {
    const draft = this.#drafts?.draft;
    const { selection } = draft ?? {};
    const isHere = selection?.key === toFileKey(file) && Math.max(selection.from, selection.to) === line.at;
    const ended = comments.filter((comment) => isCommentEnd(comment, line));
    if (ended.length === 0 && !isHere) return nothing;
    return html`${ended.map((comment) => commentView(comment, this.#commentActions(false)))}
      ${isHere && draft !== undefined ? this.#form(draft.comment, true) : nothing}`;
  }

  #commentActions(isInReview: boolean) {
    const draft = this.#drafts?.draft;
    const isEdited = (comment: ChangeComment): boolean =>
      draft?.comment.id === comment.id && draft.isInReview === isInReview;
    return {
      edit: (comment: ChangeComment) => {
        this.#drafts?.edit(comment, isInReview);
        this.#focusForm();
      },
      remove: (comment: ChangeComment) => this.#drafts?.remove([comment]),
      form: (comment: ChangeComment) =>
        isEdited(comment) && draft !== undefined ? this.#form(draft.comment, false) : undefined,
    };
  }

  #form(comment: ChangeComment, isNew: boolean) {
    return commentForm({
      place: comment,
      text: comment.text,
      isNew,
      extend: (by) => {
        const { selection } = this.#drafts?.draft ?? {};
        if (selection === undefined) return;
        const to = Math.max(
          Math.max(selection.from, selection.to) + by,
          Math.min(selection.from, selection.to),
        );
        this.#comment({ ...selection, from: Math.min(selection.from, selection.to), to });
      },
      input: (text) => this.#drafts?.input(text),
      save: () => {
        this.#drafts?.save();
        this.#focusLines();
      },
      cancel: () => {
        this.#drafts?.cancel();
        this.#focusLines();
      },
    });
  }

  readonly #onClick = (event: Event): void => {
    if (!(event.target instanceof Element)) return;
    const line = event.target.closest(".line-no")?.closest<HTMLElement>("[data-at]");
    const key = line?.closest<HTMLElement>(".changed-file")?.dataset["key"];
    if (line === null || line === undefined || key === undefined) return;
    const at = Number(line.dataset["at"]);
    const isMore = event instanceof MouseEvent && event.shiftKey && this.selection?.key === key;
    this.#comment({ key, from: isMore ? (this.selection?.from ?? at) : at, to: at });
  };

  /** Opens the form for the selected lines, or moves it there. */
  #comment(selection: Selection): void {
    const file = this.state.files.find((one) => toFileKey(one) === selection.key);
    const rows = this.#rows.get(selection.key);
    const place = file === undefined ? undefined : toCommentPlace(file.path, pickLines(rows, selection));
    if (place === undefined) return;
    const before = this.#drafts?.draft?.selection;
    this.selection = selection;
    if (before?.key === selection.key && before.from === selection.from) this.#drafts?.move(place, selection);
    else this.#drafts?.write(place, selection);
    this.#focusForm();
  }

  /** Keys on the lines of a file. */
  readonly #onLineKey = (event: KeyboardEvent): void => {
    const { target } = event;
    if (!(target instanceof HTMLElement) || !target.classList.contains("changed-lines")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = findLineAction(event);
    const key = target.closest<HTMLElement>(".changed-file")?.dataset["key"];
    if (action === undefined || key === undefined) return;
    event.preventDefault();
    if (action === "leave") {
      this.selection = undefined;
      this.#section(key)?.querySelector<HTMLElement>(".changed-head")?.focus();
    } else if (action === "comment") {
      if (this.selection?.key === key) this.#comment(this.selection);
    } else {
      const count = listLines(this.#rows.get(key)).length;
      this.selection = moveSelection(this.selection, key, action, count);
    }
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { target } = event;
    if (target instanceof Element && target.closest("input, textarea, select, dialog, .card") !== null)
      return;
    const action = findChangesAction(event.key);
    if (action === undefined) return;
    event.preventDefault();
    this.#do(action);
  };

  #do(action: ChangesAction): void {
    const { state } = this;
    if (action === "next_file" || action === "previous_file") this.#stepFile(action === "next_file" ? 1 : -1);
    else if (action === "open_all") this.#toggleAll();
    else if (action === "split") {
      this.isSplit = !this.isSplit;
      keepSplit(this.isSplit);
    } else if (action === "comments") this.isReviewing = !this.isReviewing && this.#comments.length > 0;
    else if (action === "refresh") void this.source.refresh();
    else
      void this.#selectTurn(stepTurn(state.reply?.turns ?? [], state.turn, action === "next_turn" ? 1 : -1));
  }

  async #selectTurn(turn: ChangesScope | undefined): Promise<void> {
    this.selection = undefined;
    this.#rows.reset();
    this.#drafts?.save();
    await this.source.selectTurn(turn);
  }

  #toggle(file: ChangedFile): void {
    if (this.state.opened.has(toFileKey(file))) this.source.closeFile(file);
    else void this.source.openFile(file);
  }

  #toggleAll(): void {
    const { files, opened } = this.state;
    for (const file of files) {
      if (opened.size > 0) this.source.closeFile(file);
      else if (!file.generated) void this.source.openFile(file);
    }
  }

  #stepFile(by: 1 | -1): void {
    const heads = [...this.querySelectorAll<HTMLElement>(".changed-head")];
    const section = document.activeElement?.closest(".changed-file");
    const at = heads.findIndex((head) => head.closest(".changed-file") === section);
    const next = heads[at === -1 ? (by > 0 ? 0 : heads.length - 1) : at + by];
    next?.focus();
    next?.closest(".changed-file")?.scrollIntoView({ block: "start" });
  }

  #section(key: string): HTMLElement | undefined {
    return [...this.querySelectorAll<HTMLElement>(".changed-file")].find(
      ({ dataset }) => dataset["key"] === key,
    );
  }

  #focusForm(): void {
    void this.updateComplete.then(() => this.querySelector<HTMLElement>(".comment-text")?.focus());
  }

  #focusLines(): void {
    const key = this.selection?.key;
    if (key === undefined) return;
    void this.updateComplete.then(() =>
      this.#section(key)?.querySelector<HTMLElement>(".changed-lines")?.focus(),
    );
  }

  async #send(): Promise<void> {
    this.#drafts?.save();
    const comments = this.#comments;
    if (comments.length === 0 || this.isSending || this.isBlocked) return;
    this.isSending = true;
    this.problem = "";
    try {
      await this.app.api.input(this.sessionId, { text: formatComments(comments) });
      this.#drafts?.remove(comments);
      this.isReviewing = false;
      this.app.notify(
        "info",
        this.isWorking ? "Queued: the agent gets your comments after this turn." : "Sent.",
      );
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      this.isSending = false;
    }
  }

  async #discard(): Promise<void> {
    const comments = this.#comments;
    const count = comments.length === 1 ? "the comment" : `${comments.length} comments`;
    const isSure = await this.app.confirm({
      title: `Discard ${count}?`,
      text: "They were not sent.",
      action: "Discard",
      isDangerous: true,
    });
    if (isSure) this.#drafts?.remove(comments);
  }

  async #undo(turn: number): Promise<void> {
    if (
      await undoTurn({ app: this.app, sessionId: this.sessionId, turn, turns: this.state.reply?.turns ?? [] })
    )
      await this.source.refresh();
  }
}

customElements.define("x-changes", ChangesElement);
