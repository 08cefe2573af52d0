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
  isRenaming: boolean;
  rename(name: string): void;
  setRenaming(value: boolean): void;
  find(): void;
  stop(): void;
  remove(): void;
}

export function sessionHead(context: HeadContext): TemplateResult {
  const { app, session, sessionId } = context;
  const name = session === undefined ? sessionId.slice(0, 8) : getSessionName(session);
  return html`<header class="session-head">
    ${
      context.isRenaming
        ? renameForm(context, session?.name ?? "")
        : html`<h1 class="session-title" title=${sanitizeLine(name)} @dblclick=${() => context.setRenaming(true)}>${sanitizeLine(name)}</h1>`
    }
    <span class="session-sub">
      ${session === undefined ? nothing : html`${sanitizeLine(session.provider)} · `}<code>${sanitizeLine(sessionId.slice(0, 8))}</code>
      ${copyButton(() => sessionId, "Copy session id")}
      ${session?.parent === undefined ? nothing : html`<a href=${app.href({ name: "session", session_id: session.parent })}>parent</a>`}
    </span>
    <div class="session-actions" role="group" aria-label="Session">
      <button class="action quiet" type="button" @click=${context.find}>Find</button>
      <a class="action button quiet" href=${app.href({ name: "stats", session_id: sessionId })}>Usage</a>
      <button class="action quiet" type="button" @click=${() => context.setRenaming(true)}>Rename</button>
      <button class="action quiet" type="button" ?disabled=${session?.activity_state === "stopped"} @click=${context.stop}>Stop</button>
      <button class="action danger" type="button" @click=${context.remove}>Remove</button>
    </div>
  </header>`;
}

function renameForm(context: HeadContext, name: string): TemplateResult {
  return html`<form
    class="session-rename"
    @submit=${(event: SubmitEvent) => {
      event.preventDefault();
      const input = (event.currentTarget as HTMLFormElement).elements.namedItem("name");
      if (input instanceof HTMLInputElement) context.rename(input.value);
    }}
    @keydown=${(event: KeyboardEvent) => {
      if (event.key === "Escape") context.setRenaming(false);
    }}
  >
    <input name="name" aria-label="Name" placeholder="Name (empty to remove)" maxlength="200" autocomplete="off" .value=${name} />
    <button type="submit" class="primary">Save</button>
    <button type="button" class="quiet" @click=${() => context.setRenaming(false)}>Cancel</button>
  </form>`;
}
