// Which provider, model and agent the next message gets: chosen with pickers or with words, between tasks only (§13).
import { CodedError } from "../../../base/coded-error.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";
import type { DemianSession, ProviderChoice, Runtime } from "../../../runtime/session-types.ts";
import type { Picker, PickerOption } from "../../../tui/types.ts";
import {
  canBeUsed,
  chosenOf,
  findProvider,
  problemOf,
  type Settings,
  withAgent,
  withAgentOf,
  withModel,
  withProvider,
} from "../settings.ts";
import { type Main, teamLine } from "../sub-agents.ts";

/** What is said at the start. */
export const PICKER_KEYS = "in an empty line p chooses the provider, m the model, a the agent";

export interface ChoicesOptions {
  runtime: Runtime;
  settings: Settings;
  /** Undefined when none could be opened; one that is being opened is waited for. */
  session(): Promise<DemianSession | undefined>;
  /** Opens one with what is chosen by now. */
  open(): Promise<void>;
  /** Throws when a task runs. */
  assertStandby(): void;
  onChosen(text: string): void;
}

export class Choices {
  readonly #options: ChoicesOptions;
  #settings: Settings;

  constructor(options: ChoicesOptions) {
    this.#options = options;
    this.#settings = options.settings;
  }

  get settings(): Settings {
    return this.#settings;
  }

  get main(): Main {
    return { agent: this.#settings.agent.value, provider: this.#settings.provider.value };
  }

  /** A provider without a usual model was chosen, and no model yet; nothing else is missing. */
  get lacksModel(): boolean {
    const { provider, model } = this.#settings;
    const choice = findProvider(this.#options.runtime, provider.value);
    return model.value === "" && choice !== undefined && canBeUsed(choice);
  }

  get pickers(): readonly Picker[] {
    return [
      {
        key: "p",
        title: "provider",
        load: () => Promise.resolve(this.#providers()),
        choose: (value) => this.provider(value),
      },
      {
        key: "m",
        title: "model",
        load: () => Promise.resolve(this.#models()),
        choose: (value) => this.model(value),
        takesText: true,
      },
      {
        key: "a",
        title: "main agent",
        load: () => Promise.resolve(this.#agents()),
        choose: (value) => this.agent(value),
      },
    ];
  }

  async provider(key: string): Promise<void> {
    const { runtime } = this.#options;
    const chosen = withProvider(this.#settings, runtime, key);
    const choice = findProvider(runtime, key);
    if (choice !== undefined && !canBeUsed(choice)) {
      throw new CodedError("missing_key", `${key} is not ready: ${problemOf(choice)}`);
    }
    await this.#take(chosen);
  }

  async model(name: string): Promise<void> {
    await this.#take(withModel(this.#settings, name.trim()));
  }

  async agent(name: string): Promise<void> {
    const { runtime } = this.#options;
    const session = await this.#session();
    if (session === undefined) {
      await this.#take(withAgent(this.#settings, runtime, name));
      return;
    }
    await session.use({ agent: name });
    this.#settings = withAgentOf(this.#settings, session);
    this.#tell(true);
  }

  async #take(chosen: Settings): Promise<void> {
    const session = await this.#session();
    const isWhole = chosen.model.value !== "";
    const before = teamLine(this.#options.runtime, this.main);
    // Where there is no session yet, a choice that does not open one is still what the next choice is made upon.
    if (session === undefined || !isWhole) this.#settings = chosen;
    if (isWhole && session === undefined) await this.#options.open();
    if (isWhole && session !== undefined) {
      const { provider, model } = chosenOf(chosen);
      await session.use(model === undefined ? { provider } : { provider, model });
      this.#settings = chosen;
    }
    // One with a loop of its own cannot delegate, and one without can again.
    this.#tell(teamLine(this.#options.runtime, this.main) !== before);
  }

  async #session(): Promise<DemianSession | undefined> {
    this.#options.assertStandby();
    const session = await this.#options.session();
    this.#options.assertStandby();
    return session;
  }

  #tell(isTeamNew: boolean): void {
    const { runtime, onChosen } = this.#options;
    const { provider, model, agent } = this.#settings;
    const chosen = `provider ${sanitizeLine(provider.value)}, model ${sanitizeLine(model.value) || "?"}, agent ${sanitizeLine(agent.value)}`;
    const lines = [
      this.lacksModel
        ? `${chosen}: it has no usual model; press m, or type /model NAME, to name one`
        : chosen,
      ...(isTeamNew && runtime.config.agentMode === "multi-agent"
        ? [`multi-agent: ${teamLine(runtime, this.main)}`]
        : []),
    ];
    onChosen(lines.join("\n"));
  }

  #providers(): PickerOption[] {
    const { value: current } = this.#settings.provider;
    const choices = this.#options.runtime.providers.toSorted((a, b) => rankOf(a) - rankOf(b));
    return choices.map((choice) => ({
      value: choice.key,
      label: choice.key,
      detail: choice.needsModel ? "ready when you name a model" : choice.model,
      ...(choice.key === current ? { isCurrent: true } : {}),
      ...(canBeUsed(choice) ? {} : { problem: problemOf(choice) }),
    }));
  }

  /** Those that are known by name; any other can be typed. */
  #models(): PickerOption[] {
    const { provider, model } = this.#settings;
    const usual = findProvider(this.#options.runtime, provider.value)?.model ?? "";
    const names = [...new Set([model.value, usual])].filter((name) => name !== "");
    return names.map((name) => ({
      value: name,
      label: name,
      ...(name === usual ? { detail: `configured for ${provider.value}` } : {}),
      ...(name === model.value ? { isCurrent: true } : {}),
    }));
  }

  #agents(): PickerOption[] {
    const { value: current } = this.#settings.agent;
    return this.#options.runtime.agents.primary().map(({ name, description }) => ({
      value: name,
      label: name,
      detail: description,
      ...(name === current ? { isCurrent: true } : {}),
    }));
  }
}

/** What can be used stands first. */
function rankOf({ isReady, needsModel }: ProviderChoice): number {
  if (isReady) return 0;
  return needsModel ? 1 : 2;
}
