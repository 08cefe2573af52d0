// Asks for provider and model in the plain-text chat: Enter accepts, ? lists, a name selects.
import { sanitizeLine } from "../../base/sanitize.ts";
import type { Runtime } from "../../runtime/session-types.ts";
import { LIST_LIMIT_MS, MAX_LISTED } from "./choices.ts";
import { EXIT_CODES } from "./io.ts";
import { describeFacts } from "./model-text.ts";
import type { Screen } from "./screen.ts";
import {
  explainProblem,
  explainUnknownProvider,
  findProvider,
  formatProviders,
  isUsable,
  listProviderKeys,
  type Setting,
  type Settings,
  withModel,
  withProvider,
} from "./settings.ts";
import type { Terminal } from "./terminal.ts";

export interface ProviderPromptOptions {
  screen: Screen;
  runtime: Runtime;
  terminal: Terminal;
  signal: AbortSignal;
}

export class ProviderPrompt {
  readonly #options: ProviderPromptOptions;

  constructor(options: ProviderPromptOptions) {
    this.#options = options;
  }

  /** A number is an exit code: the user leaves instead. */
  async both(settings: Settings): Promise<Settings | number> {
    const chosen = await this.provider(settings);
    return typeof chosen === "number" ? chosen : this.model(chosen);
  }

  async provider(settings: Settings): Promise<Settings | number> {
    const { screen, runtime } = this.#options;
    for (;;) {
      const said = await this.#ask("provider", settings.provider);
      if (typeof said === "number") return said;
      if (said === "?") {
        screen.say(formatProviders(runtime, settings.provider.value, screen.columns).join("\n"));
        continue;
      }
      const key = said === "" ? settings.provider.value : said;
      const choice = findProvider(runtime, key);
      if (choice === undefined)
        screen.error(`✗ ${explainUnknownProvider(listProviderKeys(runtime), key)}; ? lists them`);
      else if (!isUsable(choice)) {
        screen.error(`✗ ${key} is not ready: ${sanitizeLine(explainProblem(choice))}; ? lists the others`);
      } else return said === "" ? settings : withProvider(settings, runtime, key);
    }
  }

  async model(settings: Settings): Promise<Settings | number> {
    const { screen, runtime } = this.#options;
    const { provider, model } = settings;
    for (;;) {
      const said = await this.#ask("model", model);
      if (typeof said === "number") return said;
      if (said === "?") {
        const usual = findProvider(runtime, provider.value)?.model ?? "";
        const said = `configured for ${provider.value}: ${sanitizeLine(usual) || "no model"}; type any model name it offers`;
        screen.say([said, ...(await this.#listModels(provider.value))].join("\n"));
      } else if (/\s/.test(said)) {
        // A message typed too early would be saved as the model.
        screen.error(
          "✗ a model name has no spaces; choose the model first (Enter accepts it), then type your message",
        );
      } else if (said !== "") return withModel(settings, said);
      else if (model.value === "")
        screen.error(`✗ ${provider.value} has no default model; type a model name`);
      else return settings;
    }
  }

  async #listModels(provider: string): Promise<string[]> {
    const models = await this.#options.runtime.listModels(provider, AbortSignal.timeout(LIST_LIMIT_MS));
    const lines = models.map((model) => `  ${sanitizeLine(model.id)}  ${describeFacts(model)}`.trimEnd());
    const most = lines.slice(0, MAX_LISTED);
    return lines.length > most.length ? [...most, `  … and ${lines.length - most.length} more`] : most;
  }

  async #ask(name: string, { value, source }: Setting): Promise<string | number> {
    const { terminal, signal } = this.#options;
    const shown = value === "" ? "" : ` [${sanitizeLine(value)}, ${source}]`;
    const said = await terminal.ask({ prompt: `${name}${shown}: `, signal });
    if (said.kind === "interrupt") return EXIT_CODES.SIGINT;
    if (said.kind !== "line") return 0;
    const text = said.text.trim();
    return text === "/exit" || text === "/quit" ? 0 : text;
  }
}
