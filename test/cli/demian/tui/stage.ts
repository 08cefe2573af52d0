// The screen's driver without a screen: the real runtime against a model on loopback, and the real view of what is told.

import type { Order } from "../../../../src/cli/demian/order.ts";
import { resolveSettings, type Settings } from "../../../../src/cli/demian/settings.ts";
import { LocalDriver } from "../../../../src/cli/demian/tui/driver.ts";
import type { Entry, RequestRow, View } from "../../../../src/client/view/types.ts";
import { applyInputs, emptyView } from "../../../../src/client/view.ts";
import type { UserContentPart } from "../../../../src/runtime/messages.ts";
import { createRuntime } from "../../../../src/runtime/runtime.ts";
import type { Runtime } from "../../../../src/runtime/session-types.ts";
import type { World } from "../world.ts";

export interface StageOptions {
  order?: Partial<Order>;
  parts?: readonly UserContentPart[];
  warnings?: readonly string[];
}

export class Stage {
  view: View = emptyView();
  readonly driver: LocalDriver;
  readonly runtime: Runtime;
  readonly remembered: Settings[] = [];
  readonly #waiting = new Set<() => void>();

  private constructor(runtime: Runtime, order: Order, { parts = [], warnings = [] }: StageOptions) {
    this.runtime = runtime;
    this.driver = new LocalDriver({
      runtime,
      settings: resolveSettings(runtime, order, {}),
      order,
      parts,
      warnings,
      onChosen: (settings) => {
        this.remembered.push(settings);
        return Promise.resolve(undefined);
      },
    });
    this.driver.start((inputs) => {
      this.view = applyInputs(this.view, inputs);
      for (const look of this.#waiting) look();
    });
  }

  static async open(world: World, options: StageOptions = {}): Promise<Stage> {
    const order: Order = { cwd: world.workspace, flags: {}, yes: false, dryRun: false, ...options.order };
    const runtime = await createRuntime({ cwd: order.cwd, env: world.env, flags: order.flags });
    return new Stage(runtime, order, options);
  }

  /** The view, as soon as it is so. */
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

  /** The end of so many turns. */
  turns(count: number): Promise<Entry & { kind: "result" }> {
    return this.until((view) => {
      const results = entries(view, "result");
      return view.session?.turn === undefined ? results[count - 1] : undefined;
    });
  }

  request(): Promise<RequestRow> {
    return this.until(({ requests }) => requests[0]);
  }

  notice(pattern: RegExp): Promise<Entry & { kind: "notice" }> {
    return this.until((view) => entries(view, "notice").find(({ text }) => pattern.test(text)));
  }

  command(name: string, rest = ""): Promise<void> {
    const command = this.driver.commands.find((one) => one.name === name);
    if (command === undefined) throw new Error(`no command ${name}`);
    return command.run(rest);
  }

  picker(key: string) {
    const picker = this.driver.pickers.find((one) => one.key === key);
    if (picker === undefined) throw new Error(`no picker ${key}`);
    return picker;
  }

  async close(): Promise<void> {
    await this.driver.close();
    await this.runtime.close();
  }
}

export function entries<K extends Entry["kind"]>(view: View, kind: K): Extract<Entry, { kind: K }>[] {
  return view.entries.filter((entry): entry is Extract<Entry, { kind: K }> => entry.kind === kind);
}
