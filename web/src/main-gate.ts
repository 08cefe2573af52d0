// What is shown to somebody without a token: why, and what to do.
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
