// Provider, model and agent of the next message, selected with pickers, prompts or slash commands while no task is running.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { EFFORTS } from "../../runtime/providers/effort.ts";
import type { DemianSession, ProviderChoice, Runtime } from "../../runtime/session-types.ts";
import type { Picker, PickerOption } from "../../tui/types.ts";
import { describeFacts } from "./model-text.ts";
import {
  explainProblem,
  findProvider,
  isUsable,
  type Settings,
  syncAgent,
  toSessionChoice,
  withAgent,
  withEffort,
  withModel,
  withProvider,
} from "./settings.ts";
import { describeTeam, type Main } from "./sub-agents.ts";

export const PICKER_KEYS =
  "with an empty line, p selects the provider, m the model, e the effort, a the agent";
export const EFFORT_KEY = "e";
/** How long a picker waits for a vendor's list of models. */
export const LIST_LIMIT_MS = 8000;
/** A vendor may list hundreds of models; lists of lines end here. */
export const MAX_LISTED = 60;

export interface ChoicesOptions {
  runtime: Runtime;
  settings: Settings;
  /** Waits for a session that is being opened; undefined if none is open. */
  session(): Promise<DemianSession | undefined>;
  /** Opens a session with the current choices. */
  open(): Promise<void>;
  /** Throws while a task is running. */
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

  /** Only a model name is missing: the provider has no default model. */
  get lacksModel(): boolean {
    const { provider, model } = this.#settings;
    const choice = findProvider(this.#options.runtime, provider.value);
    return model.value === "" && choice !== undefined && isUsable(choice);
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
        load: () => this.#models(),
        choose: (value) => this.model(value),
        takesText: true,
      },
      {
        key: EFFORT_KEY,
        title: "effort",
        load: () => Promise.resolve(this.#efforts()),
        choose: (value) => this.effort(value),
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
    if (choice !== undefined && !isUsable(choice)) {
      throw new CodedError("missing_key", `${key} is not ready: ${explainProblem(choice)}`);
    }
    await this.take(chosen);
  }

  async model(name: string): Promise<void> {
    await this.take(withModel(this.#settings, name.trim()));
  }

  async effort(level: string): Promise<void> {
    await this.take(withEffort(this.#settings, level.trim()));
  }

  async agent(name: string): Promise<void> {
    const { runtime } = this.#options;
    const session = await this.#session();
    if (session === undefined) {
      await this.take(withAgent(this.#settings, runtime, name));
      return;
    }
    await session.use({ agent: name });
    this.#settings = syncAgent(this.#settings, session);
    this.#tell(true);
  }

  async take(chosen: Settings): Promise<void> {
    const session = await this.#session();
    const isWhole = chosen.model.value !== "";
    const before = describeTeam(this.#options.runtime, this.main);
    // Without a session, later choices build on this one even if it does not open a session.
    if (session === undefined || !isWhole) this.#settings = chosen;
    if (isWhole && session === undefined) await this.#options.open();
    if (isWhole && session !== undefined) {
      const { agent: _, ...change } = toSessionChoice(chosen);
      await session.use(change);
      this.#settings = chosen;
    }
    // Whether it can delegate depends on the provider.
    this.#tell(describeTeam(this.#options.runtime, this.main) !== before);
  }

  async #session(): Promise<DemianSession | undefined> {
    this.#options.assertStandby();
    const session = await this.#options.session();
    this.#options.assertStandby();
    return session;
  }

  #tell(isTeamNew: boolean): void {
    const { runtime, onChosen } = this.#options;
    const { provider, model, agent, effort } = this.#settings;
    const chosen = [
      `provider ${sanitizeLine(provider.value)}, model ${sanitizeLine(model.value) || "?"}`,
      ...(effort.value === "" ? [] : [`effort ${effort.value}`]),
      `agent ${sanitizeLine(agent.value)}`,
    ].join(", ");
    const lines = [
      this.lacksModel ? `${chosen}: no default model; press m or type /model NAME` : chosen,
      ...(isTeamNew && runtime.config.agentMode === "multi-agent"
        ? [`multi-agent: ${describeTeam(runtime, this.main)}`]
        : []),
    ];
    onChosen(lines.join("\n"));
  }

  #providers(): PickerOption[] {
    const { value: current } = this.#settings.provider;
    const choices = this.#options.runtime.providers.toSorted((a, b) => rankProvider(a) - rankProvider(b));
    return choices.map((choice) => ({
      value: choice.key,
      label: choice.key,
      detail: choice.needsModel ? "needs a model name" : choice.model,
      ...(choice.key === current ? { isCurrent: true } : {}),
      ...(isUsable(choice) ? {} : { problem: explainProblem(choice) }),
    }));
  }

  /** Those that the account can use, as far as the vendor lists them; any other can be typed. */
  async #models(): Promise<PickerOption[]> {
    const { provider, model } = this.#settings;
    const { runtime } = this.#options;
    const usual = findProvider(runtime, provider.value)?.model ?? "";
    const listed = await runtime.listModels(provider.value, AbortSignal.timeout(LIST_LIMIT_MS));
    const facts = new Map(listed.map((one) => [one.id, one]));
    const names = [...new Set([model.value, usual, ...facts.keys()])].filter((name) => name !== "");
    return names.map((name) => {
      const detail = [
        describeFacts(facts.get(name) ?? {}),
        name === usual ? `configured for ${provider.value}` : "",
      ].filter((part) => part !== "");
      return {
        value: name,
        label: name,
        ...(detail.length === 0 ? {} : { detail: detail.join(" · ") }),
        ...(name === model.value ? { isCurrent: true } : {}),
      };
    });
  }

  #efforts(): PickerOption[] {
    const { value: current } = this.#settings.effort;
    return EFFORTS.map((level) => ({
      value: level,
      label: level,
      ...(level === current ? { isCurrent: true } : {}),
    }));
  }

  #agents(): PickerOption[] {
    const { value: current } = this.#settings.agent;
    return this.#options.runtime.agents.listPrimary().map(({ name, description }) => ({
      value: name,
      label: name,
      detail: description,
      ...(name === current ? { isCurrent: true } : {}),
    }));
  }
}

/** Usable providers first. */
function rankProvider({ isReady, needsModel }: ProviderChoice): number {
  if (isReady) return 0;
  return needsModel ? 1 : 2;
}
