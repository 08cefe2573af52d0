// What is shown to somebody whom the daemon does not let in, or does not answer: why, and what to do.
import { html, type TemplateResult } from "lit";
import type { Refusal } from "./auth.ts";

const WHY: Readonly<Record<Refusal, { title: string; text: string }>> = {
  none: {
    title: "This page needs a link",
    text: "The dashboard opens with a one-time link, so that nobody else can drive your agents. Get one in a terminal:",
  },
  used: {
    title: "This link is used up",
    text: "A link opens the dashboard once, within ten minutes. Get a new one in a terminal:",
  },
  refused: {
    title: "The daemon wants a new link",
    text: "Its token has changed since this tab was opened. What you were writing is kept. Get a new link in a terminal:",
  },
  away: {
    title: "The daemon does not answer",
    text: "It may not run, or on another port. This starts it and gives a new link:",
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

/** A daemon that was started anew may have no port open: a link opens it, and the page that stands here goes on. */
export function awayBanner(port: string): TemplateResult {
  return html`<div class="banner" role="status">
    The daemon does not answer. Trying again; what you write is kept. If it stays away, run
    <code>blemees web --port ${port === "" ? "80" : port}</code> in a terminal: this page then goes on.
  </div>`;
}
