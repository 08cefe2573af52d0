// Templates of feed items, by kind.
import { html, nothing, type TemplateResult } from "lit";
import { sanitize, sanitizeLine } from "../../../src/base/sanitize.ts";
import {
  computeWorkedMs,
  formatCost,
  formatDuration,
  formatTokens,
} from "../../../src/client/view/format.ts";
import type {
  Entry,
  NoticeEntry,
  RequestEntry,
  ResultEntry,
  ThinkingEntry,
  UserEntry,
} from "../../../src/client/view/types.ts";
import { copyButton } from "./copy.ts";
import { type FeedItem, type Folds, isOpen, toText } from "./items.ts";
import { markdown } from "./markdown-view.ts";
import { describeOutcome } from "./outcome.ts";
import { toolView } from "./tool-view.ts";

export interface EntryContext {
  folds: Folds;
  toggle(entry: Entry): void;
  nowMs: number;
  /** The current search hit. */
  found: string | undefined;
  /** Absent: there are no stored events. */
  showRaw?(entry: Entry): void;
}

const MAX_DEPTH_SHOWN = 4;
/** Longer user messages are collapsed. */
const LONG_MESSAGE = 4_000;

export function itemView(item: FeedItem, context: EntryContext): TemplateResult {
  const { entry } = item;
  const classes = [
    "entry",
    entry.id === context.found ? "is-found" : "",
    "isOpen" in entry && entry.isOpen ? "is-open" : "",
    entry.isUndone === true ? "is-undone" : "",
    item.isFirst ? "is-first" : "",
    item.isLast ? "is-last" : "",
  ];
  return html`<article
    class=${classes.filter((name) => name !== "").join(" ")}
    data-kind=${entry.kind}
    data-depth=${Math.min(entry.depth, MAX_DEPTH_SHOWN)}
    data-level=${entry.kind === "notice" ? entry.level : nothing}
    data-status=${entry.kind === "tool" ? entry.status : entry.kind === "request" ? entry.request.status : nothing}
    data-entry=${entry.id}
  >
    ${body(item, context)} ${item.isLast ? actions(entry, context) : nothing}
  </article>`;
}

function body(item: FeedItem, context: EntryContext): unknown {
  const { entry } = item;
  switch (entry.kind) {
    case "user":
      return userView(entry, context);
    case "text":
      return html`<div class="entry-body">${markdown(item.blocks ?? [])}</div>`;
    case "thinking":
      return thinkingView(entry, context);
    case "tool":
      return toolView(entry, context);
    case "request":
      return requestView(entry);
    case "notice":
      return noticeView(entry);
    case "result":
      return resultView(entry);
    case "gap":
      return html`<p class="entry-body">${sanitize(entry.text)}</p>`;
  }
}

function userView(entry: UserEntry, context: EntryContext): unknown {
  const isLong = entry.text.length > LONG_MESSAGE;
  const isCut = isLong && context.folds.get(entry.id) !== true;
  return html`<div class="entry-head">
      <span class="entry-who">${entry.from === undefined ? "You" : html`Session ${sanitizeLine(entry.from.slice(0, 8))}`}</span>
      ${time(entry.at_ms)} ${entry.isUndone === true ? html`<span class="entry-note">undone</span>` : nothing}
    </div>
    <div class="entry-body plain">${sanitize(isCut ? entry.text.slice(0, LONG_MESSAGE) : entry.text)}</div>
    ${isLong ? html`<button class="quiet" type="button" @click=${() => context.toggle(entry)}>${isCut ? "Show all" : "Show less"}</button>` : nothing}
    ${entry.attachments ? html`<span class="entry-note">${entry.attachments} ${entry.attachments === 1 ? "attachment" : "attachments"}</span>` : nothing}`;
}

function thinkingView(entry: ThinkingEntry, context: EntryContext): unknown {
  const isUnfolded = isOpen(entry, context.folds);
  const took =
    entry.at_ms !== undefined && entry.ended_at_ms !== undefined
      ? ` for ${formatDuration(entry.ended_at_ms - entry.at_ms)}`
      : "";
  return html`<button class="fold" type="button" aria-expanded=${isUnfolded} @click=${() => context.toggle(entry)}>
      <span class="fold-label">${entry.isOpen ? "Thinking…" : `Thought${took}`}</span>
    </button>
    ${isUnfolded ? html`<div class="thinking-body plain">${sanitize(entry.text)}</div>` : nothing}`;
}

function requestView({ request, at_ms }: RequestEntry): unknown {
  return html`<div class="entry-head"><span class="entry-who">${describeOutcome(request)}</span>${time(at_ms)}</div>
    <div class="entry-body plain">${sanitizeLine(request.payload.title)}</div>`;
}

function noticeView({ category, text }: NoticeEntry): unknown {
  return html`<span class="notice-category">${sanitizeLine(category)}</span> <span class="entry-body plain">${sanitize(text)}</span>`;
}

function resultView(entry: ResultEntry): unknown {
  const { subtype, usage, cost_usd, error } = entry;
  const worked = computeWorkedMs(entry);
  const facts = [
    worked === undefined ? undefined : formatDuration(worked),
    usage?.output_tokens === undefined ? undefined : `${formatTokens(usage.output_tokens)} output tokens`,
    cost_usd === undefined ? undefined : formatCost(cost_usd),
  ].filter((fact) => fact !== undefined);
  return html`<span class="result-word" data-subtype=${subtype}>${subtype === "success" ? "Done" : sanitizeLine(subtype)}</span>
    <span class="result-facts">${facts.join(" · ")}</span>
    ${error === undefined ? nothing : html`<p class="error-text">${sanitize(error)}</p>`}`;
}

function actions(entry: Entry, context: EntryContext): unknown {
  if (entry.kind === "gap" || ("isOpen" in entry && entry.isOpen)) return nothing;
  const text = toText(entry);
  const { showRaw } = context;
  return html`<div class="entry-actions">
    ${text === "" || entry.kind === "tool" ? nothing : copyButton(() => text, "Copy text")}
    ${
      entry.seq === null || showRaw === undefined
        ? nothing
        : html`<button class="quiet" type="button" title="Show raw events" @click=${() => showRaw(entry)}>Raw</button>`
    }
  </div>`;
}

function time(at_ms: number | undefined): unknown {
  if (at_ms === undefined) return nothing;
  const date = new Date(at_ms);
  return html`<time class="entry-time" datetime=${date.toISOString()} title=${date.toLocaleString()}>${date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}</time>`;
}
