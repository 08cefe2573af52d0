// Sessions of one workspace share one runtime, as long as its configuration is the same; the last one closes it.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { DemianConfig } from "../config/schema.ts";
import type { Runtime, RuntimeOrder } from "../session-types.ts";
import { homeDir } from "../state-dir.ts";

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
    const { flags } = this.#order;
    const key = [cwd, agentMode ?? "", await this.#stamp(cwd)].join("\0");
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

  /** Changes when a file that it is made of does, or the trust in one: a new session then gets what stands there now. */
  async #stamp(cwd: string): Promise<string> {
    const { env, configPath } = this.#order;
    // Not before a session is opened: whoever starts us waits for the first answer.
    const { contributionStamp } = await import("../config/scope.ts");
    const files = [
      join(homeDir(env), ".demian", "config.json"),
      join(cwd, ".demian", "config.json"),
      ...(configPath === undefined ? [] : [configPath]),
    ];
    const stamps = files.map(async (file) => {
      const stats = await stat(file).catch(() => undefined);
      return stats === undefined ? "-" : `${stats.ino}:${stats.size}:${stats.mtimeMs}`;
    });
    return (await Promise.all([...stamps, contributionStamp({ cwd, env })])).join(",");
  }
}
