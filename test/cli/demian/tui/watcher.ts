// Drives a driver without a screen: its view, and its commands and pickers by name.
import type { Entry, RequestRow, SessionView, View } from "../../../../src/client/view/types.ts";
import { applyInputs, emptyView } from "../../../../src/client/view.ts";
import type { Picker, SessionDriver } from "../../../../src/tui/types.ts";

export class Watcher {
  view: View = emptyView();
  readonly #driver: SessionDriver;
  readonly #waiting = new Set<() => void>();

  constructor(driver: SessionDriver) {
    this.#driver = driver;
  }

  start(): void {
    this.#driver.start((inputs) => {
      this.view = applyInputs(this.view, inputs);
      for (const look of this.#waiting) look();
    });
  }

  /** Waits until `look` finds something in the view. */
  until<T>(look: (view: View) => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const check = (): void => {
        const found = look(this.view);
        if (found === undefined) return;
        this.#waiting.delete(check);
        resolve(found);
      };
      this.#waiting.add(check);
      check();
    });
  }

  /** Waits for the end of the given turn, counted from 1. */
  turns(count: number): Promise<Entry & { kind: "result" }> {
    return this.until((view) => {
      const results = entries(view, "result");
      return view.session?.turn === undefined ? results[count - 1] : undefined;
    });
  }

  /** Waits until the session is in this state. */
  session(state: SessionView["activity_state"]): Promise<SessionView> {
    return this.until(({ session }) => (session?.activity_state === state ? session : undefined));
  }

  request(): Promise<RequestRow> {
    return this.until(({ requests }) => requests[0]);
  }

  notice(pattern: RegExp): Promise<Entry & { kind: "notice" }> {
    return this.until((view) => entries(view, "notice").find(({ text }) => pattern.test(text)));
  }

  command(name: string, rest = ""): Promise<void> {
    const command = this.#driver.commands.find((one) => one.name === name);
    if (command === undefined) throw new Error(`no command ${name}`);
    return command.run(rest);
  }

  picker(key: string): Picker {
    const picker = this.#driver.pickers.find((one) => one.key === key);
    if (picker === undefined) throw new Error(`no picker ${key}`);
    return picker;
  }
}

export function entries<K extends Entry["kind"]>(view: View, kind: K): Extract<Entry, { kind: K }>[] {
  return view.entries.filter((entry): entry is Extract<Entry, { kind: K }> => entry.kind === kind);
}
