// The context every element gets (`.app=${app}`): API, sessions, route, notices. Types only.
//
// Structure of the page, for stylesheets. Light DOM, no inline styles, lit without styleMap (the CSP refuses style attributes).
//   body > x-app.app                   data-connection="connecting|live|lost" data-route="home|session|search|inbox|stats|usage|outside|daemon|new|help"
//     header.topbar                    button.menu, a.brand, nav.topnav > a[aria-current], button.notify-ask,
//                                      a.waiting (number of pending requests; opens the inbox)
//     div.banner[role=status]          the connection is lost
//     aside.sidebar > x-fleet          .is-open on phones; div.scrim under it
//     main.main#main                   x-session, x-search, x-inbox, x-stats, x-usage, x-outside, x-daemon, x-spawn or x-help; empty at home
//     div.toasts > div.toast           data-level="info|warn|error"; .toast-close
//   main.gate                          no token: h1, p, pre.command
//   dialog.dialog                      .dialog-title .dialog-text .dialog-actions > button(.danger|.primary); .raw
//   x-session.session                  data-state=<activity_state>; x-feed, x-request, x-composer, x-raw take no room
//     header.session-head              h1.session-title | form.session-rename; .session-sub; .session-actions > .action
//     nav.session-tabs > a.session-tab  aria-current; .tab-count: changed files
//     x-changes                        instead of the feed and the composer
//       .changes-bar                   select.changes-turn, .changes-totals, .changes-tools
//       .changes-files                 .changes-note; section.changed-file[data-key] > button.changed-head(.changed-status
//                                      [data-status] .changed-path .changed-note .changed-turns .changed-counts),
//                                      .changed-body > .changed-why | .changed-lines(.is-split); .changed-more
//         .change-line[data-op][data-at] > button.line-no, .line-text(.line-sign .line-word .line-end); .is-picked .is-blank
//         .change-hunk, .change-pair > two of .change-line
//         .comment(.comment-place .comment-words .comment-actions), form.comment-form > .comment-text
//       .comments-bar                  .comments-review, .comments-count
//     dl.panel > div.fact              data-fact="state|turn|model|tokens|context|cost|budget|queue|cwd" > dt, dd
//     form.search                      input, .search-count, buttons; ::highlight(search) in the feed
//     div.feed[role=log]               .feed-earlier, .feed-items > .feed-before, .feed-item > article.entry, .feed-after
//       article.entry                  data-kind data-depth=0..4 data-level data-status; .is-found .is-open .is-first .is-last
//         .entry-head(.entry-who .entry-time) .entry-body(.plain) .entry-actions > button
//         tool                         button.tool-head > .tool-status .tool-name .tool-title .tool-agent .tool-time;
//                                      .tool-body > .diff, .tool-part > h4 + pre.input|pre.output, .tool-exit
//         thinking                     button.fold > .fold-label; .thinking-body
//         text                         .md > p h3..h6 ul ol li.task blockquote .table-wrap > table; a.link .link-address;
//                                      figure.code-block > .code-head(.code-lang .copy) + pre.code > code > span.hl-*
//         diff                         .diff > .diff-change > .diff-file(.diff-path .diff-kind .diff-added .diff-removed)
//                                      + pre.diff-lines > span.diff-line[data-op=add|del|ctx|hunk|meta] > b.diff-word
//     button.below                     new below
//     div.requests > article.card      data-type data-status; .card-head(.card-title) .card-fact
//                                      (.card-label .card-value) .card-words .card-section[data-form] > h3 + pre.exact
//                                      form.questions > fieldset.question > legend, label.option(.own) > input, .option-about
//                                      .card-choices > .choice-row, .card-decide > .choice-row > button.choice[data-decision]
//                                      > kbd + span, .choice-notes
//                                      .card-decline > label, textarea; .card-outcome .card-note; details.card-details
//                                      .rule-maker > button.rule-make, .rule > pre.exact, ul.rule-matches, button.rule-save
//     ol.queue > li.queued             .queued-text .queued-cancel
//     form.composer                    data-disabled; ul.completions > li.completion[aria-selected] > .completion-label
//                                      .completion-detail; .completion-note; textarea.composer-text, .composer-foot(.composer-hint .composer-actions)
// Common: button, button.primary, button.danger, button.quiet, kbd, .visually-hidden, .empty, .error-text, .is-waiting.

import type { HttpApi } from "../../src/client/http/api.ts";
import type { Fleet } from "../../src/client/view/fleet.ts";
import type { ViewPort } from "../../src/client/view/port.ts";

/** An observable value. `subscribe` does not call the listener at once; it returns an unsubscribe function. */
export interface Store<T> {
  get(): T;
  subscribe(listener: (value: T) => void): () => void;
}

export type Route =
  | { name: "home" }
  /** `at_seq`: the event to scroll to. */
  | { name: "session"; session_id: string; view?: "changes"; at_seq?: number }
  | { name: "search"; text?: string }
  | { name: "inbox"; request_id?: string }
  | { name: "stats"; session_id?: string }
  | { name: "usage"; session_id?: string }
  | { name: "outside"; session_id?: string; agent?: string; at_seq?: number }
  | { name: "daemon" }
  | { name: "new" }
  | { name: "help" };

export interface Notice {
  id: number;
  level: "info" | "warn" | "error";
  text: string;
}

/** Confirmation of an action that cannot be undone. */
export interface Confirm {
  title: string;
  text: string;
  /** Button label: "Remove". */
  action: string;
  isDangerous?: boolean;
  /** A check box, on at first. */
  option?: { label: string; set(isOn: boolean): void };
}

export interface App {
  readonly api: HttpApi;
  /** For `openSource`; shares one stream of changes. */
  readonly port: ViewPort;
  readonly fleet: Store<Fleet>;
  readonly route: Store<Route>;
  /** Ticks every second while the page is visible. */
  readonly clock: Store<number>;
  readonly notices: Store<readonly Notice[]>;
  /** The daemon's time. */
  now(): number;
  navigate(route: Route): void;
  href(route: Route): string;
  notify(level: Notice["level"], text: string): void;
  /** Shows an error as a notice. */
  fail(error: unknown): void;
  confirm(question: Confirm): Promise<boolean>;
}
