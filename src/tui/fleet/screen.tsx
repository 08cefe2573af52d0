// The screen of all sessions: holds the state, carries out what keys ask for, and tells what a person should know.
import { homedir } from "node:os";
import { messageOf } from "../../base/coded-error.ts";
import { Rows } from "../lines.tsx";
import { fleetNews } from "../notify/fleet-news.ts";
import type { App, Input, Opener, Screen, Size } from "../screen-types.ts";
import type { FleetDriver, SessionDriver } from "../types.ts";
import { drawFleet, pageOf } from "./draw.ts";
import { type Form, refused, type SpawnOrder, withBackends } from "./form.ts";
import { type Effect, FIRST_STATE, type FleetState, inMode, onKey, said, withFleet } from "./state.ts";

/** Ages go on also when nothing happens. */
const AGES_MS = 10_000;
/** By then the list stands. */
const AHEAD_MS = 150;

type OpenSession = (driver: SessionDriver) => Opener;

/** What a session needs (Markdown, highlighting) is loaded when the list stands, not before. */
export function fleetScreen(driver: FleetDriver, loadSession: () => Promise<OpenSession>): Opener {
  return (app) => new FleetScreen(driver, loadSession, app);
}

class FleetScreen implements Screen {
  readonly #driver: FleetDriver;
  readonly #loadSession: () => Promise<OpenSession>;
  readonly #app: App;
  readonly #ages: NodeJS.Timeout;
  readonly #ahead: NodeJS.Timeout;
  #state: FleetState = FIRST_STATE;
  #top = 0;
  #isShown = true;
  #wasLive = false;
  #openSession: OpenSession | undefined;
  #isOpening = false;

  constructor(driver: FleetDriver, loadSession: () => Promise<OpenSession>, app: App) {
    this.#driver = driver;
    this.#loadSession = loadSession;
    this.#app = app;
    this.#ages = setInterval(() => this.#changed("soon"), AGES_MS);
    this.#ages.unref();
    // It fails again, and is told, when it is needed.
    this.#ahead = setTimeout(() => this.#loaded().catch(() => undefined), AHEAD_MS);
    driver.start((fleet) => {
      const news = fleetNews(this.#state.fleet, fleet);
      this.#state = withFleet(this.#state, fleet);
      for (const one of news) app.notify(one);
      this.#fillForm(fleet.link.state === "live");
      this.#changed("soon");
    });
  }

  title(): string {
    const waiting = [...this.#state.fleet.sessions.values()].filter(
      ({ pending_requests }) => pending_requests > 0,
    ).length;
    return waiting === 0
      ? "blemees"
      : `(${waiting}) blemees: ${waiting === 1 ? "1 waits" : `${waiting} wait`}`;
  }

  onInput(input: Input): void {
    if (this.#isOpening) return;
    const { cwd } = process;
    const page = pageOf(this.#app.size().rows);
    const { state, effects } = onKey(this.#state, input, { page, cwd: cwd() });
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
    this.#changed("now");
  }

  draw(size: Size): ReturnType<Screen["draw"]> {
    const { look } = this.#app;
    const { rows, cursor, top } = drawFleet(this.#state, size, { look, nowMs: Date.now(), top: this.#top });
    this.#top = top;
    return <Rows rows={rows} cursor={cursor} />;
  }

  onShown(isShown: boolean): void {
    this.#isShown = isShown;
    if (isShown) this.#changed("now");
  }

  async close(): Promise<void> {
    clearInterval(this.#ages);
    clearTimeout(this.#ahead);
    await this.#driver.close();
  }

  #changed(when: "now" | "soon"): void {
    if (this.#isShown) this.#app.changed(when);
  }

  #carryOut(effect: Effect): void {
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
        this.#try(this.#loadBackends(), refused);
        break;
      case "spawn":
        this.#try(this.#spawn(effect.order), refused);
        break;
      case "rename":
        this.#try(this.#driver.rename(effect.session_id, effect.name));
        break;
      default:
        this.#try(this.#driver[effect.kind](effect.session_id));
        break;
    }
  }

  /** A key that comes meanwhile was meant for the session, and must do nothing to the list. */
  #open(session_id: string): void {
    const show = (open: OpenSession): void => this.#app.open(open(this.#driver.open(session_id)));
    if (this.#openSession !== undefined) {
      show(this.#openSession);
      return;
    }
    this.#isOpening = true;
    const opened = this.#loaded().then(show);
    this.#try(
      opened.finally(() => {
        this.#isOpening = false;
      }),
    );
  }

  async #loaded(): Promise<OpenSession> {
    this.#openSession ??= await this.#loadSession();
    return this.#openSession;
  }

  /** What went wrong stands in the form that it is about, or in the line at the bottom. */
  #try(work: Promise<void>, inForm?: (form: Form, problem: string) => Form): void {
    work.catch((error: unknown) => {
      const { mode } = this.#state;
      this.#state =
        inForm !== undefined && mode.kind === "form"
          ? inMode(this.#state, { kind: "form", form: inForm(mode.form, messageOf(error)) })
          : said(this.#state, messageOf(error), "error");
      this.#changed("now");
    });
  }

  /** A form that was opened while the daemon was away learns which agents there are when it is back. */
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
    this.#state = inMode(this.#state, { kind: "form", form: withBackends(mode.form, backends) });
    this.#changed("now");
  }

  async #spawn(order: SpawnOrder): Promise<void> {
    const cwd = order.cwd.replace(/^~(?=\/|$)/, homedir());
    const session_id = await this.#driver.spawn({ ...order, cwd });
    const isWaitedFor = this.#state.mode.kind === "form";
    this.#state = { ...inMode(this.#state, { kind: "list" }), selected: session_id };
    if (isWaitedFor) this.#open(session_id);
    this.#changed("now");
  }
}
