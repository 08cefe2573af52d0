// What every element of the page is given (`.app=${app}`): the daemon's API, all sessions, where we are, and words for
// the person. Only types.
//
// The page, for who styles it. Light DOM, no inline styles, lit without styleMap (the CSP refuses style attributes).
//   body > x-app.app                   data-connection="connecting|live|lost" data-route="home|session|stats|new|help"
//     header.topbar                    button.menu, a.brand, nav.topnav > a[aria-current], button.notify-ask,
//                                      button.waiting (how many wait; goes to the next)
//     div.banner[role=status]          the connection is lost
//     aside.sidebar > x-fleet          .is-open on phones; div.scrim behind it
//     main.main#main                   x-session, x-stats, x-spawn or x-help; empty at home
//     div.toasts > div.toast           data-level="info|warn|error"; .toast-close
//   main.gate                          no token: h1, p, pre.command
//   dialog.dialog                      .dialog-title .dialog-text .dialog-actions > button(.danger|.primary); .raw
//   x-session.session                  data-state=<activity_state>; x-feed, x-request, x-composer, x-raw take no room
//     header.session-head              h1.session-title | form.session-rename; .session-sub; .session-actions > .action
//     dl.panel > div.fact              data-fact="state|turn|model|tokens|context|cost|queue|cwd" > dt, dd
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
//                                      + pre.diff-lines > span.diff-line[data-op=add|del|ctx|hunk|meta]
//     button.below                     new below
//     div.requests > article.card      data-type data-status; .card-head(.card-title) .card-fact
//                                      (.card-label .card-value) .card-words .card-section[data-form] > h3 + pre.exact
//                                      form.questions > fieldset.question > legend, label.option(.own) > input, .option-about
//                                      .card-choices > .choice-row > button.choice[data-decision] > kbd + span, .choice-notes
//                                      .card-decline > label, textarea; .card-outcome .card-note; details.card-details
//     ol.queue > li.queued             .queued-text .queued-cancel
//     form.composer                    data-disabled; textarea.composer-text, .composer-foot(.composer-hint .composer-actions)
// Common: button, button.primary, button.danger, button.quiet, kbd, .visually-hidden, .empty, .error-text, .is-waiting.

import type {
  InputRecord,
  InputReply,
  RespondReply,
  SpawnBody,
  SpawnReply,
} from "../../src/client/http/types.ts";
import type { Fleet } from "../../src/client/view/fleet.ts";
import type { ViewPort } from "../../src/client/view/port.ts";
import type { Answer, RequestRow } from "../../src/client/view/types.ts";
import type { Stats } from "../../src/protocol/stats.ts";

/** A value that tells when it changed. `subscribe` does not call at once; it gives what ends it. */
export interface Store<T> {
  get(): T;
  subscribe(listener: (value: T) => void): () => void;
}

export type Route =
  | { name: "home" }
  | { name: "session"; session_id: string }
  | { name: "stats"; session_id?: string }
  | { name: "new" }
  | { name: "help" };

export interface Notice {
  id: number;
  level: "info" | "warn" | "error";
  text: string;
}

/** What the daemon is, as `GET /status` says. */
export interface DaemonStatus {
  daemon: string;
  pid: number;
  uptime_s: number;
  /** Those found on this machine, with their version. */
  backends: Readonly<Record<string, string>>;
}

export interface StatsQuery {
  since_ms?: number;
  session_id?: string;
  limit?: number;
}

/** The daemon, over HTTP. Every method may reject with an `ApiError`, whose message is for people. */
export interface Api extends ViewPort {
  status(signal?: AbortSignal): Promise<DaemonStatus>;
  stats(query: StatsQuery, signal?: AbortSignal): Promise<Stats>;
  spawn(body: SpawnBody): Promise<SpawnReply>;
  /** A message of the person. While a turn runs it is queued; `isNow` interrupts the turn for it. */
  send(session_id: string, text: string, how?: { isNow?: boolean }): Promise<InputReply>;
  cancelQueued(session_id: string, message_id: string): Promise<InputRecord>;
  interrupt(session_id: string): Promise<{ was_idle: boolean }>;
  /** Answers exactly what was shown: the daemon refuses when the request is another one by now. */
  respond(request: RequestRow, answer: Answer): Promise<RespondReply>;
  rename(session_id: string, name: string | null): Promise<void>;
  /** Ends its agent; history and queue stay. With `tree` also all below it. */
  stop(session_id: string, how?: { tree?: boolean }): Promise<void>;
  /** Forgets it for good. */
  remove(session_id: string, how?: { tree?: boolean }): Promise<void>;
}

/** A question before something that cannot be undone. */
export interface Confirm {
  title: string;
  text: string;
  /** What the button says: "Remove". */
  action: string;
  isDangerous?: boolean;
}

export interface App {
  readonly api: Api;
  /** For `openSource`: all of the page share one stream of changes. */
  readonly port: ViewPort;
  readonly fleet: Store<Fleet>;
  readonly route: Store<Route>;
  /** Ticks once a second while the page is seen; for ages and running times. */
  readonly clock: Store<number>;
  readonly notices: Store<readonly Notice[]>;
  /** In the daemon's time, which is that of its sessions. */
  now(): number;
  navigate(route: Route): void;
  /** The hash of a route, for links. */
  href(route: Route): string;
  /** A toast. */
  notify(level: Notice["level"], text: string): void;
  /** The same for something that was thrown. */
  fail(error: unknown): void;
  confirm(question: Confirm): Promise<boolean>;
}
