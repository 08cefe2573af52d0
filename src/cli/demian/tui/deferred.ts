// A session of the daemon that is spawned with its first message. Until then provider, model and agent are chosen as on a
// runtime in this process; from then on it is the daemon's driver, with what demian understands beside it.
import { basename } from "node:path";
import { CodedError } from "../../../base/coded-error.ts";
import type { HttpClient } from "../../../client/index.ts";
import type { Answer, RequestRow, ViewInput } from "../../../client/view/types.ts";
import { USE_PLAN } from "../../../runtime/acp/commands.ts";
import type { Runtime } from "../../../runtime/session-types.ts";
import { createSessionDriver } from "../../../tui/daemon/session-driver.ts";
import type { DriverCommand, Picker, SessionDriver } from "../../../tui/types.ts";
import { readTyped } from "../chat-commands.ts";
import type { Order } from "../order.ts";
import type { Kept } from "../prepare.ts";
import { placeWords, type Settings, settingsWords } from "../settings.ts";
import { teamLine } from "../sub-agents.ts";
import { Choices, PICKER_KEYS } from "./choices.ts";
import { earlyCommands, lateCommands } from "./deferred-commands.ts";
import { Outlet } from "./outlet.ts";
import { troubleOf, waysOut } from "./ways-out.ts";

export interface DeferredOptions {
  /** For what can be chosen; nothing is opened in it. */
  runtime: Runtime;
  settings: Settings;
  order: Order;
  /** Who the session is of: demian, or the demo. */
  backend: string;
  /** Said at the start. */
  warnings: readonly string[];
  /** `note`: for what is told on the way, such as that a daemon had to be started. */
  spawn(chosen: Settings, prompt: string, note: (text: string) => void): Promise<Spawned>;
  /** A choice that worked is remembered. */
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

const KEEPS = "a session of the daemon keeps its provider, model and agent; `demian --daemon` begins another";
/** Whoever leaves while the daemon is slow gets their shell back. */
const LEAVE_MS = 3_000;

export class DeferredDriver implements SessionDriver {
  readonly title: string;
  readonly requestFocus = "asked";
  readonly #options: DeferredOptions;
  readonly #outlet = new Outlet();
  readonly #choices: Choices;
  readonly #early: readonly DriverCommand[];
  #listener: ((inputs: readonly ViewInput[]) => void) | undefined;
  #late: Late | undefined;
  #spawning: Promise<void> | undefined;
  /** What was sent meanwhile waits for what was sent before. */
  #line: Promise<void> = Promise.resolve();
  #remembering: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: DeferredOptions) {
    const { runtime, settings, backend } = options;
    this.#options = options;
    this.title = `${backend} · ${basename(runtime.cwd)}`;
    this.#choices = new Choices({
      runtime,
      settings,
      session: () => Promise.resolve(undefined),
      open: () => Promise.resolve(),
      assertStandby: () => this.#assertNew(),
      onChosen: (text) => this.#say("info", text),
    });
    this.#early = earlyCommands({ runtime, choices: this.#choices, say: (text) => this.#say("info", text) });
  }

  /** Empty until it is spawned. */
  get session_id(): string {
    return this.#late?.driver.session_id ?? "";
  }

  /** It was asked for, and the daemon has not answered. */
  get isSpawning(): boolean {
    return this.#spawning !== undefined;
  }

  get endsWithScreen(): boolean {
    return this.#late === undefined;
  }

  get commands(): readonly DriverCommand[] {
    return this.#late?.commands ?? this.#early;
  }

  get pickers(): readonly Picker[] {
    return this.#late === undefined && !this.isSpawning ? this.#choices.pickers : [];
  }

  start(listener: (inputs: readonly ViewInput[]) => void): void {
    this.#listener = listener;
    this.#outlet.start(listener);
    if (this.#late === undefined) {
      this.#outlet.tell({ kind: "link", state: "live" });
      this.#greet();
    }
    for (const warning of this.#options.warnings) this.#say("warn", warning);
    this.#follow();
  }

  /** Spawns it with this as its first message, whatever that begins with. */
  begin(text: string): Promise<void> {
    this.#assertNew();
    this.#spawning = this.#spawn(text).finally(() => {
      this.#spawning = undefined;
    });
    return this.#spawning;
  }

  async send(text: string, how: { isNow?: boolean } = {}): Promise<void> {
    const typed = readTyped(text);
    if (typed.kind === "empty") return;
    if (typed.kind === "unknown") throw new CodedError("unknown_command", typed.message);
    if (typed.kind === "command" && (this.#late === undefined || typed.name !== USE_PLAN)) {
      throw new CodedError("unknown_command", KEEPS);
    }
    const sent = this.#line.then(() => this.#late?.driver.send(text, how) ?? this.begin(text));
    this.#line = sent;
    try {
      await sent;
    } finally {
      // What waits behind one that failed fails with it; the next one is tried.
      if (this.#line === sent) this.#line = Promise.resolve();
    }
  }

  async interrupt(): Promise<void> {
    if (this.#late === undefined) this.#say("info", "no task is running");
    else await this.#late.driver.interrupt();
  }

  respond(request: RequestRow, answer: Answer): Promise<void> {
    return this.#spawned().respond(request, answer);
  }

  wholeRequest(request: RequestRow): Promise<RequestRow> {
    return this.#spawned().wholeRequest(request);
  }

  cancelQueued(message_id: string): Promise<void> {
    return this.#spawned().cancelQueued(message_id);
  }

  async loadEarlier(kept_from?: number): Promise<boolean> {
    return (await this.#late?.driver.loadEarlier(kept_from)) ?? false;
  }

  /** With who said so (§13). Once there is a session, it says all but the agent itself. */
  settings(): readonly string[] {
    const { runtime, order } = this.#options;
    const words = settingsWords(this.#choices.settings);
    return this.#late === undefined ? [...words, ...placeWords(runtime, order)] : words.slice(-1);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** A message that was sent is sent: whoever leaves then should be told where its session is. */
  async #close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LEAVE_MS);
    });
    await Promise.race([this.#spawning?.catch(() => undefined), late]);
    clearTimeout(timer);
    await this.#late?.driver.close();
    await this.#remembering;
    this.#outlet.close();
  }

  #greet(): void {
    const { runtime } = this.#options;
    const { settings, main } = this.#choices;
    const keys = `${PICKER_KEYS}; your first message starts the session, which keeps them`;
    this.#say("info", `${this.settings().join(" · ")}\n${keys}`);
    if (runtime.config.agentMode === "multi-agent") {
      this.#say("info", `multi-agent: ${teamLine(runtime, main)}`);
    }
    // No more than a warning: it is the daemon's environment that counts.
    const trouble = troubleOf(runtime, settings.provider.value);
    if (trouble !== undefined) this.#say("warn", [trouble, ...waysOut(runtime.providers)].join("\n"));
  }

  async #spawn(prompt: string): Promise<void> {
    const { spawn } = this.#options;
    if (this.#closing !== undefined) throw new CodedError("session_closed", "the screen is closed");
    if (this.#choices.lacksModel) {
      throw new CodedError("no_model", "name a model first: m in an empty line, /model NAME, or --model");
    }
    this.#outlet.tell({ kind: "link", state: "connecting" });
    try {
      const { http, session_id } = await spawn(this.#choices.settings, prompt, (text) =>
        this.#say("info", text),
      );
      const driver = createSessionDriver({ http, session_id, title: this.title });
      this.#late = { driver, commands: lateCommands(driver, http) };
    } catch (error) {
      this.#outlet.tell({ kind: "link", state: "live" });
      throw error;
    }
    this.#follow();
  }

  /** What the session tells goes on where we have stopped. */
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

  #spawned(): SessionDriver {
    if (this.#late !== undefined) return this.#late.driver;
    throw new CodedError("no_session", "there is no session yet; your first message starts it");
  }

  #assertNew(): void {
    if (this.#late === undefined && !this.isSpawning) return;
    throw new CodedError("session_begun", KEEPS);
  }

  #say(level: "info" | "warn", text: string): void {
    this.#outlet.tell({ kind: "local", level, text, at_ms: Date.now() });
  }
}

/** A turn has ended, and not because something went wrong with it. */
function isAnswered(input: ViewInput): boolean {
  if (input.kind !== "frame" || input.frame.type !== "agent.result") return false;
  const { subtype } = input.frame;
  return subtype !== "error" && subtype !== "interrupted";
}
