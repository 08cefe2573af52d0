// Sessions of one workspace share one runtime, as long as its configuration is the same; the last one closes it.
import type { DemianConfig } from "../config/schema.ts";
import type { Runtime, RuntimeOrder } from "../session-types.ts";
import { configurationStamp } from "./stamp.ts";

export type CreateRuntime = (order: RuntimeOrder) => Promise<Runtime>;

export interface BorrowedRuntime {
  runtime: Runtime;
  giveBack(): Promise<void>;
}

interface Shared {
  runtime: Promise<Runtime>;
  users: number;
}

export class Runtimes {
  readonly #create: CreateRuntime;
  readonly #order: Omit<RuntimeOrder, "cwd">;
  readonly #shared = new Map<string, Shared>();

  constructor(create: CreateRuntime, order: Omit<RuntimeOrder, "cwd">) {
    this.#create = create;
    this.#order = order;
  }

  /** `cwd` is real. `agentMode`: what the client wants for its session; it is as strong as a flag. */
  async borrow(cwd: string, agentMode?: DemianConfig["agentMode"]): Promise<BorrowedRuntime> {
    const { env, configPath, flags } = this.#order;
    const stamp = await configurationStamp({ env, cwd, configPath });
    const key = [cwd, agentMode ?? "", stamp].join("\0");
    const asked = agentMode === undefined ? {} : { flags: { ...flags, agentMode } };
    const shared = this.#shared.get(key) ?? {
      runtime: this.#create({ ...this.#order, ...asked, cwd }),
      users: 0,
    };
    shared.users += 1;
    this.#shared.set(key, shared);
    const giveBack = async () => {
      shared.users -= 1;
      if (shared.users > 0) return;
      if (this.#shared.get(key) === shared) this.#shared.delete(key);
      await (await shared.runtime).close();
    };
    try {
      return { runtime: await shared.runtime, giveBack };
    } catch (error) {
      this.#shared.delete(key);
      throw error;
    }
  }
}
