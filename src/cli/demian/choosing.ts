// Settling provider and model with the person: Enter accepts, ? lists, a name selects.
import { sanitizeLine } from "../../base/sanitize.ts";
import type { Runtime } from "../../runtime/session-types.ts";
import { EXIT_CODES } from "./io.ts";
import type { Screen } from "./screen.ts";
import {
  canBeUsed,
  findProvider,
  problemOf,
  providerKeys,
  providerLines,
  type Setting,
  type Settings,
  unknownProvider,
  withModel,
  withProvider,
} from "./settings.ts";
import type { Terminal } from "./terminal.ts";

export interface ChoosingOptions {
  screen: Screen;
  runtime: Pick<Runtime, "providers">;
  terminal: Terminal;
  signal: AbortSignal;
}

export class Choosing {
  readonly #options: ChoosingOptions;

  constructor(options: ChoosingOptions) {
    this.#options = options;
  }

  /** A number: somebody leaves instead, with this exit code. */
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
        screen.say(providerLines(runtime, settings.provider.value, screen.columns).join("\n"));
        continue;
      }
      const key = said === "" ? settings.provider.value : said;
      const choice = findProvider(runtime, key);
      if (choice === undefined)
        screen.error(`✗ ${unknownProvider(providerKeys(runtime), key)}; ? lists them`);
      else if (!canBeUsed(choice)) {
        screen.error(`✗ ${key} is not ready: ${sanitizeLine(problemOf(choice))}; ? lists others`);
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
        screen.say(
          `${provider.value} is configured with ${sanitizeLine(usual) || "no model"}; type the name of any that it has`,
        );
      } else if (/\s/.test(said)) {
        // A message typed too early would be asked for as a model, and remembered as one.
        screen.error(
          "✗ the name of a model has no blanks; first the model (Enter takes it), then your message",
        );
      } else if (said !== "") return withModel(settings, said);
      else if (model.value === "") screen.error(`✗ ${provider.value} has no default model: type one`);
      else return settings;
    }
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
