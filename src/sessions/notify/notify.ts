// The notify hook: runs a command or calls a webhook when a session is waiting, done, failed or stalled. Best effort:
// it never waits, throws or stores anything, and failures are logged.
import { checkAllowedUrl, getOrigin, parseAllowList } from "../../base/allowed-url.ts";
import { startChild, waitAtMost } from "../../base/child.ts";
import { toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import type { Counter, Metrics } from "../../base/metrics.ts";
import type { PostOutcome } from "../../base/post-json.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import type { NotifyEvent, NotifyPayload } from "../../protocol/notify.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { wakesParent } from "../family/wakes.ts";
import type { SessionHooks } from "../hooks.ts";
import { toStalledPayload, toTurnPayload, toWaitsPayload } from "./payload.ts";
import { Reminders } from "./reminders.ts";

const COMMAND_LIMIT_MS = 10_000;
const POST_LIMIT_MS = 5_000;
const POST_BACKOFF_MS = [1_000, 4_000];
const CLOSE_LIMIT_MS = 2_000;
const MAX_AT_ONCE = 4;
/** Beyond this the newest are dropped: notifications this late are of no use. */
const MAX_WAITING = 100;
const MAX_LOGGED_LINES = 20;
const MAX_LOGGED_CHARS = 500;

/** Environment variables passed to a command: enough to find programs and the desktop, without keys and tokens. */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY)$/;

export interface NotifySettings {
  /** Program and arguments; no shell. */
  command?: readonly string[] | undefined;
  url?: string | undefined;
  allowUrls: readonly string[];
  on: readonly NotifyEvent[];
  /** Also results of sessions whose parent is woken anyway. */
  children: boolean;
  /** A pending request notifies again each time this has passed; 0: once. */
  remindMs: number;
}

export interface NotifyParts {
  log: Log;
  metrics?: Metrics | undefined;
  /** The daemon's environment; little of it is passed on. */
  env: Readonly<Record<string, string | undefined>>;
  /** Identity and address of the daemon, passed on unchanged. */
  identity: Readonly<Record<string, string>>;
  userAgent: string;
  now(): number;
  /** For tests. */
  backoffMs?: readonly number[];
  commandLimitMs?: number;
}

type Job = (signal: AbortSignal) => Promise<PostOutcome>;

export class Notifier implements Pick<SessionHooks, "onTurnEnd" | "onRequest"> {
  readonly #settings: NotifySettings;
  readonly #parts: NotifyParts;
  readonly #allowed: readonly URL[];
  readonly #url: URL | undefined;
  readonly #sent: Counter | undefined;
  readonly #waiting: (() => void)[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #over = new AbortController();
  readonly #reminders: Reminders;

  /** Throws `notify_not_allowed` when the configured URL is not on the configured list. */
  constructor(settings: NotifySettings, parts: NotifyParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#allowed = parseAllowList(settings.allowUrls, "notify_not_allowed");
    this.#url = settings.url === undefined ? undefined : this.checkNotifyUrl(settings.url);
    this.#reminders = new Reminders(settings.remindMs, parts.now, (row, request, reminder) =>
      this.#notify(row, { ...toWaitsPayload(row, request, parts.now()), reminder }),
    );
    this.#sent = parts.metrics?.counter(
      "blemees_notifications_total",
      "Calls of the notify hook, by outcome.",
    );
  }

  /** The normalized URL. Throws `notify_not_allowed`. */
  checkNotifyUrl(url: string): URL {
    return checkAllowedUrl(url, this.#allowed, "notify_not_allowed");
  }

  onRequest(row: SessionRow, request: RequestRow): void {
    this.#notify(row, toWaitsPayload(row, request, this.#parts.now()));
    this.startReminders(row, request);
  }

  /** Also for requests that an earlier daemon has notified of. */
  startReminders(row: SessionRow, request: RequestRow): void {
    if (!this.#over.signal.aborted) this.#reminders.start(row, request);
  }

  /** The request is no longer pending. */
  onSettled({ request_id }: Pick<RequestRow, "request_id">): void {
    this.#reminders.stop(request_id);
  }

  onTurnEnd(row: SessionRow, result: ResultEvent, goesOn: boolean): void {
    // An interrupt is known to its sender; everything else is done or failed.
    if (goesOn || result.subtype === "interrupted") return;
    this.#notify(row, toTurnPayload(row, result, this.#parts.now()));
  }

  onStall(row: SessionRow, silentMs: number): void {
    this.#notify(row, toStalledPayload(row, silentMs, this.#parts.now()));
  }

  /** Ends running notifications and drops waiting ones. */
  async close(): Promise<void> {
    this.#over.abort();
    this.#reminders.close();
    this.#waiting.length = 0;
    // The daemon stops even if one of them hangs.
    await waitAtMost(CLOSE_LIMIT_MS, Promise.all(this.#running));
  }

  /** Resolves when nothing is waiting or running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #notify(row: SessionRow, payload: NotifyPayload): void {
    if (this.#over.signal.aborted || !this.#settings.on.includes(payload.event)) return;
    // Requests need the user; a result goes to the parent, if there is one.
    const isForPerson = payload.event === "waits" || this.#settings.children || !wakesParent(row);
    const { command } = this.#settings;
    const urls = new Map<string, URL>();
    if (isForPerson && this.#url !== undefined) urls.set(this.#url.href, this.#url);
    const own = this.#ownUrl(row);
    if (own !== undefined) urls.set(own.href, own);
    if (isForPerson && command !== undefined) {
      this.#start("command", payload, (signal) => this.#run(command, payload, signal));
    }
    for (const url of urls.values()) {
      this.#start("url", payload, (signal) => this.#post(url, payload, signal), { origin: getOrigin(url) });
    }
  }

  /** Set by the spawning client. The allow-list may have changed since. */
  #ownUrl({ session_id, notify_url }: SessionRow): URL | undefined {
    if (notify_url === undefined) return undefined;
    try {
      return this.checkNotifyUrl(notify_url);
    } catch {
      // Not the message: a URL can contain a secret.
      const message = "the session's notify_url is no longer on the allow-list (notify_allow_urls)";
      this.#parts.log.warn("notify.refused", { session_id, message });
      return undefined;
    }
  }

  #start(via: "command" | "url", payload: NotifyPayload, job: Job, more: Record<string, string> = {}): void {
    const fields = { session_id: payload.session_id, event_kind: payload.event, via, ...more };
    const go = () => {
      const running = job(this.#over.signal)
        .catch((error: unknown): PostOutcome => ({ ok: false, tries: 1, reason: toMessage(error) }))
        .then((outcome) => this.#onOutcome(fields, outcome))
        .finally(() => {
          this.#running.delete(running);
          this.#waiting.shift()?.();
        });
      this.#running.add(running);
    };
    if (this.#running.size < MAX_AT_ONCE) go();
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(go);
    else
      this.#onOutcome(fields, {
        ok: false,
        tries: 0,
        reason: `${MAX_WAITING} notifications are already waiting`,
      });
  }

  #onOutcome(fields: { event_kind: string; via: string }, { ok, tries, reason }: PostOutcome): void {
    const { event_kind, via } = fields;
    this.#sent?.add(1, { event: event_kind, via, outcome: ok ? "ok" : "failed" });
    if (ok) this.#parts.log.info("notify.sent", { ...fields, tries });
    else this.#parts.log.warn("notify.failed", { ...fields, tries, message: reason });
  }

  async #post(url: URL, payload: NotifyPayload, signal: AbortSignal): Promise<PostOutcome> {
    const { userAgent, backoffMs = POST_BACKOFF_MS } = this.#parts;
    // Loaded on first use: few daemons post anything, and it would slow every start.
    const { postJson } = await import("../../base/post-json.ts");
    return postJson(url, payload, { timeoutMs: POST_LIMIT_MS, backoffMs, userAgent, signal });
  }

  async #run(command: readonly string[], payload: NotifyPayload, signal: AbortSignal): Promise<PostOutcome> {
    const [program = "", ...args] = command;
    const limitMs = this.#parts.commandLimitMs ?? COMMAND_LIMIT_MS;
    const handlers = makeOutputLog(this.#parts.log.with({ session_id: payload.session_id }));
    const child = await startChild(
      // Not marked as an agent's: the user configured it, and it may answer.
      { command: program, args, env: this.#environment(payload), marker: "BLEMEES_NOTIFY_ID" },
      handlers,
    );
    const hurry = () => void child.stop();
    signal.addEventListener("abort", hurry);
    if (signal.aborted) hurry();
    // A command may ignore its input.
    await child.write(JSON.stringify(payload)).catch(() => undefined);
    await child.stop({ finishMs: limitMs });
    signal.removeEventListener("abort", hurry);
    const exit = await child.exit;
    if (exit.code === 0) return { ok: true, tries: 1 };
    const end =
      exit.signal === undefined ? `exit code ${exit.code}` : `${exit.signal} (timeout ${limitMs} ms)`;
    return { ok: false, tries: 1, reason: `${program} ended with ${end}` };
  }

  #environment(payload: NotifyPayload): Record<string, string | undefined> {
    const passed = Object.entries(this.#parts.env).filter(([name]) => PASSED_ON.test(name));
    return {
      ...Object.fromEntries(passed),
      ...this.#parts.identity,
      BLEMEES_EVENT: payload.event,
      // Not the name used in an agent's environment: `sm` would take the command for the agent.
      BLEMEES_NOTIFY_SESSION: payload.session_id,
      ...(payload.request === undefined ? {} : { BLEMEES_REQUEST_ID: payload.request.request_id }),
    };
  }
}

/** Command output is logged for debugging only. */
function makeOutputLog(log: Log): { output(chunk: Buffer): void; errorLine(line: string): void } {
  let left = MAX_LOGGED_LINES;
  const say = (stream: string, text: string) => {
    if (left > 0) log.debug("notify.output", { stream, text: text.slice(0, MAX_LOGGED_CHARS) });
    left -= 1;
  };
  return {
    output: (chunk) => say("stdout", chunk.toString("utf8")),
    errorLine: (line) => say("stderr", line),
  };
}
