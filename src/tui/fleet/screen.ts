// The list of all sessions: keeps its state, performs effects and raises notifications.
import { homedir } from "node:os";
import { toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import { nameAsker } from "../../client/view/asker.ts";
import type { Fleet } from "../../client/view/fleet.ts";
import type { Answer, RequestRow } from "../../client/view/types.ts";
import type { SearchHit } from "../../protocol/search.ts";
import type { InboxScreenOptions } from "../inbox/screen.ts";
import { detectFleetNotifications } from "../notify/fleet-notifications.ts";
import type { OutsideScreenOptions } from "../outside/screen.ts";
import type { App, Input, Opener, Screen, Size } from "../screen-types.ts";
import type { SearchScreenOptions } from "../search/screen.ts";
import type { FleetDriver, SessionDriver } from "../types.ts";
import { countVisible, drawFleet } from "./draw.ts";
import { type Form, type SpawnOrder, setBackends, showProblem } from "./form.ts";
import {
  FIRST_STATE,
  type FleetEffect,
  type FleetState,
  type KeyContext,
  onKey,
  setFleet,
  setMode,
  setPending,
  setTime,
  showMessage,
} from "./state.ts";
import { withTitle } from "./with-title.ts";

/** Refreshes ages when nothing else does. */
const AGES_MS = 10_000;
/** Lets the list appear first. */
const AHEAD_MS = 150;

/** A request that appeared this recently was not read, and a key this soon after another one may be a held one. */
const READ_MS = 700;
const TYPING_MS = 400;

/** The screens that open over the list. */
export interface OtherScreens {
  openSession(driver: SessionDriver): Opener;
  openInbox(options: InboxScreenOptions): Opener;
  openOutside(options: OutsideScreenOptions): Opener;
  openSearch(options: SearchScreenOptions): Opener;
}

/** Loads the other screens (Markdown, highlighting) only after the list is shown. */
export function createFleetScreen(driver: FleetDriver, loadOthers: () => Promise<OtherScreens>): Opener {
  return (app) => new FleetScreen(driver, loadOthers, app);
}

class FleetScreen implements Screen {
  readonly #driver: FleetDriver;
  readonly #loadOthers: () => Promise<OtherScreens>;
  readonly #app: App;
  readonly #ages: NodeJS.Timeout;
  readonly #ahead: NodeJS.Timeout;
  #state: FleetState = FIRST_STATE;
  #top = 0;
  #isShown = true;
  #wasLive = false;
  #others: OtherScreens | undefined;
  #isOpening = false;
  /** The request that is shown in full, since when. */
  #shown: { key: string; at_ms: number } | undefined;
  #typed_ms = 0;
  readonly #watchers = new Set<(fleet: Fleet) => void>();

  constructor(driver: FleetDriver, loadOthers: () => Promise<OtherScreens>, app: App) {
    this.#driver = driver;
    this.#loadOthers = loadOthers;
    this.#app = app;
    this.#ages = setInterval(() => this.redraw("soon"), AGES_MS);
    this.#ages.unref();
    // A failure is reported when the screen is opened.
    this.#ahead = setTimeout(() => this.load().catch(() => undefined), AHEAD_MS);
    driver.start((fleet) => {
      const news = detectFleetNotifications(this.#state.fleet, fleet);
      this.#state = setFleet(setTime(this.#state, Date.now()), fleet);
      for (const one of news) app.notify(one);
      this.#fillForm(fleet.link.state === "live");
      for (const watcher of this.#watchers) watcher(fleet);
      this.redraw("soon");
    });
  }

  title(): string {
    const { size } = this.#state.fleet.requests;
    const requests = size === 1 ? "request" : "requests";
    return `${this.#countRequests()}blemees${size === 0 ? "" : `: ${size} pending ${requests}`}`;
  }

  /** The start of every title: "(2) ". */
  #countRequests(): string {
    const { size } = this.#state.fleet.requests;
    return size === 0 ? "" : `(${size}) `;
  }

  onInput(input: Input): void {
    if (this.#isOpening) return;
    const page = countVisible(this.#app.size().rows);
    const shown = this.#findShown();
    const { state, effects } = onKey(setTime(this.#state, Date.now()), input, {
      page,
      cwd: process.cwd(),
      shown,
    });
    this.#typed_ms = Date.now();
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
    this.redraw("now");
  }

  draw(size: Size): ReturnType<Screen["draw"]> {
    const { look } = this.#app;
    const frame = drawFleet(this.#state, size, { look, nowMs: Date.now(), top: this.#top });
    this.#top = frame.top;
    // Counts from when it has been written to the terminal.
    setImmediate(() => {
      const { shown } = frame;
      if (shown !== this.#shown?.key)
        this.#shown = shown === undefined ? undefined : { key: shown, at_ms: Date.now() };
    });
    return { rows: frame.rows, ...defined({ cursor: frame.cursor }) };
  }

  onShown(isShown: boolean): void {
    this.#isShown = isShown;
    this.#shown = undefined;
    if (isShown) this.redraw("now");
  }

  async close(): Promise<void> {
    clearInterval(this.#ages);
    clearTimeout(this.#ahead);
    await this.#driver.close();
  }

  redraw(when: "now" | "soon"): void {
    if (this.#isShown) this.#app.redraw(when);
  }

  #carryOut(effect: FleetEffect): void {
    const app = this.#app;
    switch (effect.kind) {
      case "leave":
        app.leave(0);
        break;
      case "suspend":
        app.suspend();
        break;
      case "repaint":
        app.repaint();
        break;
      case "open":
        this.#open(effect.session_id);
        break;
      case "backends":
        this.#try(this.#loadBackends(), showProblem);
        break;
      case "spawn":
        this.#try(this.#spawn(effect.order), showProblem);
        break;
      case "inbox":
        this.#openOther(({ openInbox }) => openInbox(this.#inboxOptions(effect.request_id)));
        break;
      case "outside":
        this.#openOther(({ openOutside, openSession }) =>
          openOutside({
            driver: this.#driver.outside,
            show: (driver) => this.#app.open(openSession(driver)),
            openSession: (session_id) => this.#open(session_id),
          }),
        );
        break;
      case "search":
        this.#openSearch(effect.text);
        break;
      case "respond":
        this.#respond(effect.request, effect.answer);
        break;
      case "label":
        this.#try(this.#driver.changeLabels(effect.session_id, effect.change));
        break;
      case "archive":
        this.#try(this.#archive(effect.session_id, effect.archived));
        break;
      case "rename":
        this.#try(this.#driver.rename(effect.session_id, effect.name));
        break;
      default:
        this.#try(this.#driver[effect.kind](effect.session_id));
        break;
    }
  }

  #findShown(): KeyContext["shown"] {
    if (this.#shown === undefined) return undefined;
    const { key, at_ms } = this.#shown;
    const now_ms = Date.now();
    return { key, isRead: now_ms - at_ms >= READ_MS && now_ms - this.#typed_ms >= TYPING_MS };
  }

  #respond(request: RequestRow, answer: Answer): void {
    const responded = this.#driver.respond(request, answer).then(
      (notice) => {
        const name = nameAsker(this.#state.fleet.sessions.get(request.session_id) ?? request);
        const words = [`accepted for ${name}`, ...(notice === undefined ? [] : [notice])];
        this.#state = showMessage(this.#state, words.join("; "));
        this.redraw("now");
      },
      (error: unknown) => {
        this.#state = setPending(this.#state, request);
        throw error;
      },
    );
    this.#try(responded);
  }

  async #archive(session_id: string, archived: boolean): Promise<void> {
    const name = nameAsker(this.#state.fleet.sessions.get(session_id) ?? { session_id });
    await this.#driver.archive(session_id, archived);
    const words = archived
      ? `archived ${name}: is:archived shows it (f), e takes it back`
      : `${name} is back`;
    this.#state = showMessage(this.#state, words);
    this.redraw("now");
  }

  #openSearch(text: string): void {
    this.#openOther(({ openSearch }) =>
      openSearch({
        driver: this.#driver,
        text,
        openSession: (id, seq) => this.#open(id, seq),
        openOutside: (hit) => this.#openOutsideAt(hit),
      }),
    );
  }

  /** Continued, its session takes its place. */
  #openOutsideAt({ session_id, agent = "", name, seq }: SearchHit): void {
    const onContinued = (continued: string): void => {
      this.#app.back();
      this.#open(continued);
    };
    const shown = { session_id, backend: agent, provider: agent, ...defined({ title: name }) };
    this.#openOther(({ openSession }) => openSession(this.#driver.outside.read(shown, onContinued, seq)));
  }

  #open(session_id: string, at_seq?: number): void {
    this.#openOther(({ openSession }) =>
      withTitle(
        openSession(
          at_seq === undefined ? this.#driver.open(session_id) : this.#driver.open(session_id, at_seq),
        ),
        (title) => this.#countRequests() + title,
      ),
    );
  }

  #inboxOptions(request_id: string | undefined): InboxScreenOptions {
    return {
      driver: this.#driver,
      fleet: this.#state.fleet,
      watch: (listener) => {
        this.#watchers.add(listener);
        return () => this.#watchers.delete(listener);
      },
      openSession: (session_id) => this.#open(session_id),
      ...defined({ request_id }),
    };
  }

  /** Keys typed while the screen is loaded are meant for it, so the list ignores them. */
  #openOther(choose: (others: OtherScreens) => Opener): void {
    const show = (others: OtherScreens): void => this.#app.open(choose(others));
    if (this.#others !== undefined) {
      show(this.#others);
      return;
    }
    this.#isOpening = true;
    const opened = this.load().then(show);
    this.#try(
      opened.finally(() => {
        this.#isOpening = false;
      }),
    );
  }

  async load(): Promise<OtherScreens> {
    this.#others ??= await this.#loadOthers();
    return this.#others;
  }

  /** Shows an error in the form it belongs to, or in the message line. */
  #try(work: Promise<void>, inForm?: (form: Form, problem: string) => Form): void {
    work.catch((error: unknown) => {
      const { mode } = this.#state;
      this.#state =
        inForm !== undefined && mode.kind === "form"
          ? setMode(this.#state, { kind: "form", form: inForm(mode.form, toMessage(error)) })
          : showMessage(this.#state, toMessage(error), "error");
      this.redraw("now");
    });
  }

  /** A form opened while the daemon was down loads its agents after the reconnect. */
  #fillForm(isLive: boolean): void {
    const isBack = isLive && !this.#wasLive;
    this.#wasLive = isLive;
    const { mode } = this.#state;
    if (isBack && mode.kind === "form" && mode.form.backends === undefined)
      this.#carryOut({ kind: "backends" });
  }

  async #loadBackends(): Promise<void> {
    const backends = await this.#driver.backends();
    const { mode } = this.#state;
    if (mode.kind !== "form") return;
    this.#state = setMode(this.#state, { kind: "form", form: setBackends(mode.form, backends) });
    this.redraw("now");
  }

  async #spawn(order: SpawnOrder): Promise<void> {
    const cwd = order.cwd.replace(/^~(?=\/|$)/, homedir());
    const session_id = await this.#driver.spawn({ ...order, cwd });
    const isWaitedFor = this.#state.mode.kind === "form";
    this.#state = { ...setMode(this.#state, { kind: "list" }), selected: session_id };
    if (isWaitedFor) this.#open(session_id);
    this.redraw("now");
  }
}
