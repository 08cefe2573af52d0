// The local driver without a screen: the real runtime with a model on loopback, and the real view.
import { afterAll, afterEach, beforeEach } from "vitest";
import { Conversation } from "../../../../src/cli/demian/conversation.ts";
import type { Order } from "../../../../src/cli/demian/order.ts";
import { resolveSettings, type Settings } from "../../../../src/cli/demian/settings.ts";
import { LocalDriver } from "../../../../src/cli/demian/tui/local-driver.ts";
import type { View } from "../../../../src/client/view/types.ts";
import type { UserContentPart } from "../../../../src/runtime/messages.ts";
import { createRuntime } from "../../../../src/runtime/runtime.ts";
import type { Runtime } from "../../../../src/runtime/session-types.ts";
import { type ModelServer, startModelServer } from "../../../support/model-server.ts";
import { World } from "../world.ts";
import { Watcher } from "./watcher.ts";

export interface StageOptions {
  order?: Partial<Order>;
  parts?: readonly UserContentPart[];
  warnings?: readonly string[];
  conversation?: Conversation;
}

export class Stage {
  readonly driver: LocalDriver;
  readonly runtime: Runtime;
  readonly remembered: Settings[] = [];
  readonly #watcher: Watcher;
  readonly until: Watcher["until"];
  readonly turns: Watcher["turns"];
  readonly session: Watcher["session"];
  readonly request: Watcher["request"];
  readonly notice: Watcher["notice"];
  readonly command: Watcher["command"];
  readonly picker: Watcher["picker"];

  private constructor(runtime: Runtime, order: Order, env: World["env"], options: StageOptions) {
    const { parts = [], warnings = [] } = options;
    this.runtime = runtime;
    this.driver = new LocalDriver({
      runtime,
      settings: resolveSettings(runtime, order, {}),
      order,
      env,
      conversation: options.conversation ?? Conversation.unstored(),
      parts,
      warnings,
      onChosen: (settings) => {
        this.remembered.push(settings);
        return Promise.resolve(undefined);
      },
    });
    const watcher = new Watcher(this.driver);
    this.#watcher = watcher;
    this.until = watcher.until.bind(watcher);
    this.turns = watcher.turns.bind(watcher);
    this.session = watcher.session.bind(watcher);
    this.request = watcher.request.bind(watcher);
    this.notice = watcher.notice.bind(watcher);
    this.command = watcher.command.bind(watcher);
    this.picker = watcher.picker.bind(watcher);
    watcher.start();
  }

  static async open(world: World, options: StageOptions = {}): Promise<Stage> {
    const order: Order = { cwd: world.workspace, flags: {}, yes: false, dryRun: false, ...options.order };
    const runtime = await createRuntime({ cwd: order.cwd, env: world.env, flags: order.flags });
    return new Stage(runtime, order, world.env, options);
  }

  get view(): View {
    return this.#watcher.view;
  }

  async close(): Promise<void> {
    await this.driver.close();
    await this.runtime.close();
  }
}

export interface Place {
  readonly world: World;
  /** That of the current test. */
  readonly model: ModelServer;
  /** Closed after the test. */
  open(options?: StageOptions): Promise<Stage>;
}

/** A workspace for all tests of a file, and a model for each. */
export function usePlace(): Place {
  const world = new World();
  let model: ModelServer | undefined;
  let stage: Stage | undefined;
  beforeEach(async () => {
    model = await startModelServer();
    world.begin(model.url);
  });
  afterEach(async () => {
    await stage?.close();
    stage = undefined;
    await model?.close();
  });
  afterAll(() => world.remove());
  return {
    world,
    get model() {
      if (model === undefined) throw new Error("the model is started before each test");
      return model;
    },
    async open(options = {}) {
      stage = await Stage.open(world, options);
      return stage;
    },
  };
}
