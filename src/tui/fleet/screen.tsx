// The screen of all sessions: holds the state, carries out what keys ask for, and tells what a person should know.
import { homedir } from "node:os";
import { messageOf } from "../../base/coded-error.ts";
import { Rows } from "../lines.tsx";
import { fleetAlerts } from "../notify/alerts.ts";
import type { App, Input, Opener, Screen, Size } from "../screen-types.ts";
import type { FleetDriver, SessionDriver } from "../types.ts";
import { drawFleet, pageOf } from "./draw.ts";
import { type Form, refused, type SpawnOrder, withBackends } from "./form.ts";
import { type Effect, FIRST_STATE, type FleetState, inMode, onKey, said, withFleet } from "./state.ts";

/** Ages go on also when nothing happens. */
const AGES_MS = 10_000;

export function fleetScreen(driver: FleetDriver, openSession: (driver: SessionDriver) => Opener): Opener {
  return (app) => new FleetScreen(driver, openSession, app);
}

class FleetScreen implements Screen {
  readonly #driver: FleetDriver;
  readonly #openSession: (driver: SessionDriver) => Opener;
  readonly #app: App;
  readonly #ages: NodeJS.Timeout;
  #state: FleetState = FIRST_STATE;
  #top = 0;
  #isShown = true;

  constructor(driver: FleetDriver, openSession: (driver: SessionDriver) => Opener, app: App) {
    this.#driver = driver;
    this.#openSession = openSession;
    this.#app = app;
    this.#ages = setInterval(() => this.#changed("soon"), AGES_MS);
    this.#ages.unref();
    driver.start((fleet) => {
      const alerts = fleetAlerts(this.#state.fleet, fleet);
      this.#state = withFleet(this.#state, fleet, Date.now());
      for (const alert of alerts) app.notify(alert);
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
    const { cwd } = process;
    const page = pageOf(this.#app.size().rows);
    const { state, effects } = onKey(this.#state, input, { nowMs: Date.now(), page, cwd: cwd() });
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
        app.open(this.#openSession(this.#driver.open(effect.session_id)));
        break;
      case "backends":
        this.#try(this.#loadBackends(), (form, problem) => refused(withBackends(form, []), problem));
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
    if (isWaitedFor) this.#app.open(this.#openSession(this.#driver.open(session_id)));
    this.#changed("now");
  }
}
