// What a face (terminal, ACP) sees of the runtime: it opens sessions, gives them messages, and is told events.
import type { AgentRegistry } from "./agents/registry.ts";
import type { AgentDefinition } from "./agents/types.ts";
import type { DemianConfig } from "./config/schema.ts";
import type { RuntimeEvent, TurnEnd } from "./events.ts";
import type { Message, UserContentPart } from "./messages.ts";
import type { Asker } from "./permissions/types.ts";
import type { ProviderFailure, ResolvedProvider, TokenUsage } from "./providers/types.ts";
import type { ToolRegistry } from "./tools/registry.ts";
import type { ToolDefinition, UserQuestion } from "./tools/types.ts";

/** Where a setting came from, shown to people. */
export type SettingSource = "config" | "saved" | "flag" | "interactive";

/** The configuration of one workspace, loaded and checked, with what it makes available. */
export interface Runtime {
  /** Absolute and real. */
  readonly cwd: string;
  readonly config: DemianConfig;
  /** What was ignored or refused while loading, for people. */
  readonly warnings: readonly string[];
  readonly agents: AgentRegistry;
  readonly tools: ToolRegistry;
  /** Providers that could be chosen, with their default model. */
  readonly providers: readonly ProviderChoice[];
  /** Throws `CodedError` with what to do (unknown agent or provider, missing key, bad cwd). */
  openSession(order: SessionOrder): Promise<DemianSession>;
  close(): Promise<void>;
}

export interface ProviderChoice {
  key: string;
  type: string;
  model: string;
  /** False: its key is missing; `problem` says which variable to set. */
  isReady: boolean;
  problem?: string;
  /** Nothing but a model is missing: it can be used as soon as one is named. */
  needsModel?: true;
}

export interface RuntimeOrder {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** `--config` */
  configPath?: string;
  /** What flags say, as a piece of configuration: the strongest layer. */
  flags?: Record<string, unknown>;
  /** Agents of the embedding program. */
  agents?: readonly AgentDefinition[];
  /** Tools of the embedding program. */
  tools?: readonly ToolDefinition[];
  /** Providers of the embedding program, by key: a configured one of that key is not looked at. */
  providers?: ReadonlyMap<string, ResolvedProvider>;
  /** There is nothing but what the embedding program brings: no file, no variable and nothing built in adds to it. */
  isAlone?: true;
}

export interface SessionOrder {
  /** `[A-Za-z0-9_-]+`; one is made when absent. */
  sessionId?: string;
  agent?: string;
  provider?: string;
  model?: string;
  /** Continue with these; system messages in it are left out. */
  history?: readonly Message[];
  ask: Asker;
  question?(question: UserQuestion, signal: AbortSignal): Promise<string | undefined>;
  /** In order, synchronously. */
  onEvent(event: RuntimeEvent): void;
  /** Each message as it joins the history, in order: whoever keeps them can go on after a crash. */
  onMessage?(message: Message): void;
  /** The history was rewritten (compaction). */
  onHistory?(history: readonly Message[]): void;
  /** Allow what would be asked. Denials and hooks still hold. */
  yes?: boolean;
  dryRun?: boolean;
  /** Added to the environment of commands. */
  env?: Readonly<Record<string, string>>;
  /** Default: as configured. */
  transcript?: boolean;
}

export interface DemianSession {
  readonly id: string;
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
  /** "linux-bwrap", …; "none": commands are refused. */
  readonly sandbox: string;
  /** Without system messages. */
  readonly history: readonly Message[];
  /** One user message, until its answer. Never rejects but for a bad call (a turn is running, the session is closed). */
  run(input: TurnInput): Promise<TurnReport>;
  /** Ends the running turn; resolves when it has ended. */
  abort(): Promise<void>;
  /** Undefined: there is too little to compact. */
  compact(): CompactReport | undefined;
  /** What an agent that only plans (`claudecode-plan`) planned last; a message may be told to carry it out. */
  readonly plan: string | undefined;
  /** Between turns only. Rejects with what is wrong (unknown agent, missing key); then nothing has changed. */
  use(change: { agent?: string; provider?: string; model?: string }): Promise<void>;
  close(): Promise<void>;
}

export interface TurnInput {
  text: string;
  /** After the text, in order. */
  parts?: readonly UserContentPart[];
  /** Puts the last plan in front of the text. */
  usePlan?: boolean;
  signal?: AbortSignal;
}

export interface TurnReport {
  outcome: TurnEnd;
  /** The final answer; what there was of it when it was cut short. */
  text: string;
  turns: number;
  /** Summed over the turn. */
  usage: TokenUsage;
  failure?: ProviderFailure;
  /** For people, with everything but "completed". */
  message?: string;
  /** It only planned, and this is the plan. */
  plan?: string;
}

export interface CompactReport {
  beforeTokens: number;
  afterTokens: number;
  dropped: number;
  kept: number;
  summaryTokens: number;
}
