// The head of a session: name, agent and actions.
import { html, nothing, type TemplateResult } from "lit";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import { getSessionName } from "../../../src/client/view/format.ts";
import type { SessionView } from "../../../src/client/view/types.ts";
import type { App } from "../app-types.ts";
import { copyButton } from "./copy.ts";

export interface HeadContext {
  app: App;
  sessionId: string;
  session: SessionView | undefined;
  /** What is being edited. */
  editing: "name" | "labels" | undefined;
  rename(name: string): void;
  relabel(text: string): void;
  edit(what: "name" | "labels" | undefined): void;
  archive(isArchived: boolean): void;
  find(): void;
  stop(): void;
  remove(): void;
}

export function sessionHead(context: HeadContext): TemplateResult {
  const { app, session, sessionId } = context;
  const name = session === undefined ? sessionId.slice(0, 8) : getSessionName(session);
  const isArchived = session?.archived_at_ms !== undefined;
  return html`<header class="session-head">
    ${
      context.editing === undefined
        ? html`<h1 class="session-title" title=${sanitizeLine(name)} @dblclick=${() => context.edit("name")}>${sanitizeLine(name)}</h1>`
        : editForm(context, session)
    }
    <span class="session-sub">
      ${session === undefined ? nothing : html`${sanitizeLine(session.provider)} · `}<code>${sanitizeLine(sessionId.slice(0, 8))}</code>
      ${copyButton(() => sessionId, "Copy session id")}
      ${(session?.labels ?? []).map((label) => html`<span class="label">${label}</span>`)}
      ${session?.archived_at_ms === undefined ? nothing : html`<span class="badge">archived</span>`}
      ${session?.parent === undefined ? nothing : html`<a href=${app.href({ name: "session", session_id: session.parent })}>parent</a>`}
    </span>
    <div class="session-actions" role="group" aria-label="Session">
      <button class="action quiet" type="button" @click=${context.find}>Find</button>
      <a class="action button quiet" href=${app.href({ name: "stats", session_id: sessionId })}>Usage</a>
      <button class="action quiet" type="button" @click=${() => context.edit("name")}>Rename</button>
      <button class="action quiet" type="button" @click=${() => context.edit("labels")}>Labels</button>
      <button class="action quiet" type="button" ?disabled=${session?.activity_state === "stopped"} @click=${context.stop}>Stop</button>
      <button
        class="action quiet"
        type="button"
        title=${isArchived ? "Show it in lists again" : "Leave it out of lists until it is used again; nothing is deleted"}
        @click=${() => context.archive(!isArchived)}
      >
        ${isArchived ? "Unarchive" : "Archive"}
      </button>
      <button class="action danger" type="button" @click=${context.remove}>Remove</button>
    </div>
  </header>`;
}

function editForm(context: HeadContext, session: SessionView | undefined): TemplateResult {
  const isName = context.editing === "name";
  const text = isName ? (session?.name ?? "") : (session?.labels ?? []).join(" ");
  return html`<form
    class="session-rename"
    @submit=${(event: SubmitEvent) => {
      event.preventDefault();
      const input = (event.currentTarget as HTMLFormElement).elements.namedItem("text");
      if (!(input instanceof HTMLInputElement)) return;
      if (isName) context.rename(input.value);
      else context.relabel(input.value);
    }}
    @keydown=${(event: KeyboardEvent) => {
      if (event.key === "Escape") context.edit(undefined);
    }}
  >
    <input
      name="text"
      aria-label=${isName ? "Name" : "Labels"}
      placeholder=${isName ? "Name (empty to remove)" : "Labels, with spaces between them"}
      maxlength=${isName ? 200 : 800}
      autocomplete="off"
      .value=${text}
    />
    <button type="submit" class="primary">Save</button>
    <button type="button" class="quiet" @click=${() => context.edit(undefined)}>Cancel</button>
  </form>`;
}

/** What to add and to remove so that the session has the labels of this text; undefined if it has them. */
export function compareLabels(
  text: string,
  labels: readonly string[] = [],
): { add_labels?: string[]; remove_labels?: string[] } | undefined {
  const wanted = [...new Set(text.split(/[\s,]+/).map((word) => word.replace(/^#/, "")))].filter(
    (word) => word !== "",
  );
  const add_labels = wanted.filter((label) => !labels.includes(label));
  const remove_labels = labels.filter((label) => !wanted.includes(label));
  if (add_labels.length + remove_labels.length === 0) return undefined;
  return {
    ...(add_labels.length === 0 ? {} : { add_labels }),
    ...(remove_labels.length === 0 ? {} : { remove_labels }),
  };
}
