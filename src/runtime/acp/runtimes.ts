// Shares one runtime among sessions with the same workspace and configuration; the last session closes it.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { DemianConfig } from "../config/schema.ts";
import type { Runtime, RuntimeOrder } from "../session-types.ts";
import { getHomeDir } from "../state-dir.ts";

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

  /** `cwd` is a real path. `agentMode` overrides the configuration, like a flag. */
  async borrow(cwd: string, agentMode?: DemianConfig["agentMode"]): Promise<BorrowedRuntime> {
    const { flags } = this.#order;
    const key = [cwd, agentMode ?? "", await this.#stamp(cwd)].join("\0");
    const override = agentMode === undefined ? {} : { flags: { ...flags, agentMode } };
    const shared = this.#shared.get(key) ?? {
      runtime: this.#create({ ...this.#order, ...override, cwd }),
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

  /** Changes when a configuration file or its trust does, so that new sessions get a new runtime. */
  async #stamp(cwd: string): Promise<string> {
    const { env, configPath } = this.#order;
    // Loaded late, to answer initialize quickly.
    const { readContributionStamp: contributionStamp } = await import("../config/scope.ts");
    const { listInstructionPaths } = await import("../instructions/find.ts");
    const files = [
      ...(await listInstructionPaths({ cwd, env })),
      join(getHomeDir(env), ".demian", "config.json"),
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
