// The list of all sessions: keeps its state, performs effects and raises notifications.
import { homedir } from "node:os";
import { toMessage } from "../../base/coded-error.ts";
import { detectFleetNotifications } from "../notify/fleet-notifications.ts";
import type { App, Input, Opener, Screen, Size } from "../screen-types.ts";
import type { FleetDriver, SessionDriver } from "../types.ts";
import { countVisible, drawFleet } from "./draw.ts";
import { type Form, type SpawnOrder, setBackends, showProblem } from "./form.ts";
import {
  FIRST_STATE,
  type FleetEffect,
  type FleetState,
  onKey,
  setFleet,
  setMode,
  showMessage,
} from "./state.ts";

/** Refreshes ages when nothing else does. */
const AGES_MS = 10_000;
/** Lets the list appear first. */
const AHEAD_MS = 150;

type OpenSession = (driver: SessionDriver) => Opener;

/** Loads the session screen (Markdown, highlighting) only after the list is shown. */
export function createFleetScreen(driver: FleetDriver, loadSession: () => Promise<OpenSession>): Opener {
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
    this.#ages = setInterval(() => this.redraw("soon"), AGES_MS);
    this.#ages.unref();
    // A failure is reported when the screen is opened.
    this.#ahead = setTimeout(() => this.load().catch(() => undefined), AHEAD_MS);
    driver.start((fleet) => {
      const news = detectFleetNotifications(this.#state.fleet, fleet);
      this.#state = setFleet(this.#state, fleet);
      for (const one of news) app.notify(one);
      this.#fillForm(fleet.link.state === "live");
      this.redraw("soon");
    });
  }

  title(): string {
    const waiting = [...this.#state.fleet.sessions.values()].filter(
      ({ pending_requests }) => pending_requests > 0,
    ).length;
    return waiting === 0 ? "blemees" : `(${waiting}) blemees: ${waiting} waiting`;
  }

  onInput(input: Input): void {
    if (this.#isOpening) return;
    const { cwd } = process;
    const page = countVisible(this.#app.size().rows);
    const { state, effects } = onKey(this.#state, input, { page, cwd: cwd() });
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
    this.redraw("now");
  }

  draw(size: Size): ReturnType<Screen["draw"]> {
    const { look } = this.#app;
    const { rows, cursor, top } = drawFleet(this.#state, size, { look, nowMs: Date.now(), top: this.#top });
    this.#top = top;
    return { rows, cursor };
  }

  onShown(isShown: boolean): void {
    this.#isShown = isShown;
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
      case "rename":
        this.#try(this.#driver.rename(effect.session_id, effect.name));
        break;
      default:
        this.#try(this.#driver[effect.kind](effect.session_id));
        break;
    }
  }

  /** Keys typed while the session opens are meant for it, so the list ignores them. */
  #open(session_id: string): void {
    const show = (open: OpenSession): void => this.#app.open(open(this.#driver.open(session_id)));
    if (this.#openSession !== undefined) {
      show(this.#openSession);
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

  async load(): Promise<OpenSession> {
    this.#openSession ??= await this.#loadSession();
    return this.#openSession;
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
