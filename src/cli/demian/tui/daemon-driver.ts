// Driver for `demian --daemon`: the first message spawns the session. Until then the user selects provider, model and
// agent; afterwards it delegates to the daemon's session driver.
import { basename } from "node:path";
import { CodedError } from "../../../base/coded-error.ts";
import type { HttpClient } from "../../../client/index.ts";
import { type Batches, createBatches } from "../../../client/view/batches.ts";
import type { Answer, RequestRow, ViewInput } from "../../../client/view/types.ts";
import { USE_PLAN } from "../../../runtime/acp/commands.ts";
import type { Runtime } from "../../../runtime/session-types.ts";
import { createSessionDriver } from "../../../tui/daemon/session-driver.ts";
import type { Delivery, DriverCommand, Picker, SessionDriver } from "../../../tui/types.ts";
import { readTyped } from "../chat-commands.ts";
import { Choices, EFFORT_KEY, PICKER_KEYS } from "../choices.ts";
import type { Order } from "../order.ts";
import type { Kept } from "../prepare.ts";
import { formatPlace, formatSettings, type Settings } from "../settings.ts";
import { describeTeam } from "../sub-agents.ts";
import { createEarlyCommands, createSessionCommands } from "./daemon-commands.ts";
import { createFileSearch } from "./find-files.ts";
import { findProblem, suggestProviders } from "./provider-hints.ts";

export interface DaemonDriverOptions {
  /** Lists the choices; no session is opened in it. */
  runtime: Runtime;
  settings: Settings;
  order: Order;
  /** `demian` or `demo`. */
  backend: string;
  /** Shown at the start. */
  warnings: readonly string[];
  /** `note` reports progress, for example that a daemon is started. */
  spawn(chosen: Settings, prompt: string, note: (text: string) => void): Promise<Spawned>;
  /** Saves settings that worked. */
  onChosen(settings: Settings): Promise<Kept | undefined>;
}

export interface Spawned {
  http: HttpClient;
  session_id: string;
}

interface Late {
  driver: SessionDriver;
  commands: readonly DriverCommand[];
}

const KEEPS = "a daemon session keeps its provider, model and agent; run `demian --daemon` for a new one";
const NO_SHELL =
  "`!` runs commands only without --daemon; use your own shell (to send it as text, start with a space)";
/** How long leaving waits for a slow daemon. */
const LEAVE_MS = 3_000;

export class DaemonDriver implements SessionDriver {
  readonly title: string;
  readonly requestFocus = "asked";
  readonly #options: DaemonDriverOptions;
  /** Inputs from before the start. */
  readonly #early: ViewInput[] = [];
  readonly #choices: Choices;
  readonly #earlyCommands: readonly DriverCommand[];
  #inputs: Batches<ViewInput> | undefined;
  #listener: ((inputs: readonly ViewInput[]) => void) | undefined;
  readonly #findFiles: NonNullable<SessionDriver["findFiles"]>;
  #late: Late | undefined;
  #spawning: Promise<void> | undefined;
  /** Keeps messages in order while the session is spawned. */
  #line: Promise<unknown> = Promise.resolve();
  #remembering: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: DaemonDriverOptions) {
    const { runtime, settings, backend } = options;
    this.#options = options;
    this.#findFiles = createFileSearch(runtime.cwd);
    this.title = `${backend} · ${basename(runtime.cwd)}`;
    this.#choices = new Choices({
      runtime,
      settings,
      session: () => Promise.resolve(undefined),
      open: () => Promise.resolve(),
      assertStandby: () => this.#assertNew(),
      onChosen: (text) => this.#say("info", text),
    });
    this.#earlyCommands = createEarlyCommands({
      runtime,
      choices: this.#choices,
      say: (text) => this.#say("info", text),
    });
  }

  /** Empty until the session is spawned. */
  get session_id(): string {
    return this.#late?.driver.session_id ?? "";
  }

  /** The daemon has not answered yet. */
  get isSpawning(): boolean {
    return this.#spawning !== undefined;
  }

  get endsWithScreen(): boolean {
    return this.#late === undefined;
  }

  get commands(): readonly DriverCommand[] {
    return this.#late?.commands ?? this.#earlyCommands;
  }

  get pickers(): readonly Picker[] {
    if (this.#late !== undefined || this.isSpawning) return [];
    // The daemon's session has the effort of its configuration.
    return this.#choices.pickers.filter(({ key }) => key !== EFFORT_KEY);
  }

  start(listener: (inputs: readonly ViewInput[]) => void): void {
    this.#listener = listener;
    this.#inputs = createBatches(listener, (inputs) => inputs);
    this.#inputs.push(this.#early);
    if (this.#late === undefined) {
      this.#push({ kind: "link", state: "live" });
      this.#greet();
    }
    for (const warning of this.#options.warnings) this.#say("warn", warning);
    this.#follow();
  }

  /** Spawns the session with this message, even if it starts with a slash. */
  begin(text: string): Promise<void> {
    this.#assertNew();
    this.#spawning = this.#spawn(text).finally(() => {
      this.#spawning = undefined;
    });
    return this.#spawning;
  }

  async send(text: string, how: Delivery = "queue"): Promise<string | undefined> {
    const typed = readTyped(text);
    if (typed.kind === "empty") return undefined;
    if (typed.kind === "unknown") throw new CodedError("unknown_command", typed.message);
    if (typed.kind === "shell") throw new CodedError("no_shell", NO_SHELL);
    if (typed.kind === "command" && (this.#late === undefined || typed.name !== USE_PLAN)) {
      throw new CodedError("unknown_command", KEEPS);
    }
    const sent = this.#line.then(async () => {
      if (this.#late !== undefined) return this.#late.driver.send(text, how);
      await this.begin(text);
      return undefined;
    });
    this.#line = sent;
    try {
      return await sent;
    } finally {
      // Messages queued after a failed one fail with it; the next one is tried.
      if (this.#line === sent) this.#line = Promise.resolve();
    }
  }

  async interrupt(): Promise<void> {
    if (this.#late === undefined) this.#say("info", "no task is running");
    else await this.#late.driver.interrupt();
  }

  respond(request: RequestRow, answer: Answer): Promise<void> {
    return this.#requireSession().respond(request, answer);
  }

  wholeRequest(request: RequestRow): Promise<RequestRow> {
    return this.#requireSession().wholeRequest(request);
  }

  cancelQueued(message_id: string): Promise<void> {
    return this.#requireSession().cancelQueued(message_id);
  }

  findFiles(match: string): ReturnType<NonNullable<SessionDriver["findFiles"]>> {
    return this.#late?.driver.findFiles?.(match) ?? this.#findFiles(match);
  }

  async loadEarlier(kept_from?: number): Promise<boolean> {
    return (await this.#late?.driver.loadEarlier(kept_from)) ?? false;
  }

  /** Once the session exists, it reports everything but the agent itself. */
  settings(): readonly string[] {
    const { runtime, order } = this.#options;
    const words = formatSettings(this.#choices.settings);
    return this.#late === undefined ? [...words, ...formatPlace(runtime, order)] : words.slice(-1);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Waits for a session that is being spawned, so that its id can be shown. */
  async #close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LEAVE_MS);
    });
    await Promise.race([this.#spawning?.catch(() => undefined), late]);
    clearTimeout(timer);
    await this.#late?.driver.close();
    await this.#remembering;
    this.#inputs?.close();
  }

  #greet(): void {
    const { runtime } = this.#options;
    const { settings, main } = this.#choices;
    const keys = `${PICKER_KEYS}; they are fixed once your first message starts the session`;
    this.#say("info", `${this.settings().join(" · ")}\n${keys}`);
    if (runtime.config.agentMode === "multi-agent") {
      this.#say("info", `multi-agent: ${describeTeam(runtime, main)}`);
    }
    // Only a warning: the daemon's environment decides.
    const trouble = findProblem(runtime, settings.provider.value);
    if (trouble !== undefined)
      this.#say("warn", [trouble, ...suggestProviders(runtime.providers)].join("\n"));
  }

  async #spawn(prompt: string): Promise<void> {
    const { spawn } = this.#options;
    if (this.#closing !== undefined) throw new CodedError("session_closed", "the screen is closed");
    if (this.#choices.lacksModel) {
      throw new CodedError(
        "no_model",
        "no model selected; press m with an empty line, or use /model NAME or --model",
      );
    }
    this.#push({ kind: "link", state: "connecting" });
    try {
      const { http, session_id } = await spawn(this.#choices.settings, prompt, (text) =>
        this.#say("info", text),
      );
      const driver = createSessionDriver({ http, session_id, title: this.title });
      this.#late = { driver, commands: createSessionCommands(driver, http) };
    } catch (error) {
      this.#push({ kind: "link", state: "live" });
      throw error;
    }
    this.#follow();
  }

  /** From here on the session's driver feeds the screen. */
  #follow(): void {
    const listener = this.#listener;
    if (listener === undefined || this.#closing !== undefined) return;
    this.#late?.driver.start((inputs) => {
      listener(inputs);
      if (inputs.some(isAnswered)) this.#remembering ??= this.#remember();
    });
  }

  async #remember(): Promise<void> {
    const kept = await this.#options.onChosen(this.#choices.settings);
    if (kept !== undefined) this.#say(kept.isKept ? "info" : "warn", kept.text);
  }

  #requireSession(): SessionDriver {
    if (this.#late !== undefined) return this.#late.driver;
    throw new CodedError("no_session", "no session yet; your first message starts it");
  }

  #assertNew(): void {
    if (this.#late === undefined && !this.isSpawning) return;
    throw new CodedError("session_begun", KEEPS);
  }

  #push(input: ViewInput): void {
    if (this.#inputs === undefined) this.#early.push(input);
    else this.#inputs.push([input]);
  }

  #say(level: "info" | "warn", text: string): void {
    this.#push({ kind: "local", level, text, at_ms: Date.now() });
  }
}

/** A turn has ended without an error or interrupt. */
function isAnswered(input: ViewInput): boolean {
  if (input.kind !== "frame" || input.frame.type !== "agent.result") return false;
  const { subtype } = input.frame;
  return subtype !== "error" && subtype !== "interrupted";
}
