// Shown if the user is not signed in or the daemon is not responding: why, and what to do.
import { html, type TemplateResult } from "lit";
import type { Refusal } from "./auth.ts";

const WHY: Readonly<Record<Refusal, { title: string; text: string }>> = {
  none: {
    title: "Sign-in link required",
    text: "The dashboard opens with a one-time link, so that only you can control your agents. Get one in a terminal:",
  },
  used: {
    title: "This link has expired",
    text: "A link works once and expires after 10 minutes. Get a new one in a terminal:",
  },
  refused: {
    title: "Sign in again",
    text: "The daemon’s token has changed since this tab was opened. Your draft is saved. Get a new link in a terminal:",
  },
  away: {
    title: "The daemon is not responding",
    text: "It may be stopped or use another port. This command starts it and prints a new link:",
  },
};

export function gate(why: Refusal): TemplateResult {
  const { title, text } = WHY[why];
  return html`<main class="gate" role="alert">
    <h1>${title}</h1>
    <p>${text}</p>
    <pre class="command">blemees web</pre>
  </main>`;
}

/** A restarted daemon may have no open port; the command opens it, and this page reconnects. */
export function awayBanner(port: string): TemplateResult {
  return html`<div class="banner" role="status">
    The daemon is not responding. Retrying; your draft is saved. If this persists, run
    <code>blemees web --port ${port === "" ? "80" : port}</code> in a terminal, and this page will reconnect.
  </div>`;
}
