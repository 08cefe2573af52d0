// The runtime as its clients (terminal, ACP) see it: open sessions, send messages, receive events.
import type { AgentRegistry } from "./agents/registry.ts";
import type { AgentDefinition } from "./agents/types.ts";
import type { DemianConfig } from "./config/schema.ts";
import type { RuntimeEvent, TurnEnd } from "./events.ts";
import type { Jobs } from "./jobs/jobs.ts";
import type { McpControl, McpOrder } from "./mcp/types.ts";
import type { Message, UserContentPart } from "./messages.ts";
import type { Asker } from "./permissions/types.ts";
import type { PromptCommand } from "./prompts.ts";
import type { Effort } from "./providers/effort.ts";
import type { ListedModel } from "./providers/models/facts.ts";
import type { ProviderFailure, ResolvedProvider, TokenUsage } from "./providers/types.ts";
import type { ToolRegistry } from "./tools/registry.ts";
import type { ToolDefinition, UserQuestion } from "./tools/types.ts";
import type { UserCommand, UserCommandResult } from "./user-command.ts";

/** The origin of a setting, shown to the user. */
export type SettingSource = "config" | "saved" | "flag" | "interactive";

/** The loaded and checked configuration of one workspace, and what it provides. */
export interface Runtime {
  /** Absolute and real. */
  readonly cwd: string;
  readonly config: DemianConfig;
  /** Settings ignored or refused while loading, for the user. */
  readonly warnings: readonly string[];
  readonly agents: AgentRegistry;
  readonly tools: ToolRegistry;
  /** Own slash commands. */
  readonly commands: readonly PromptCommand[];
  /** Providers to choose from, with their default model. */
  readonly providers: readonly ProviderChoice[];
  /** Models that the account of this provider can use, with what is known about them. Never rejects. */
  listModels(provider: string, signal: AbortSignal): Promise<readonly ListedModel[]>;
  /** Throws `CodedError` (unknown agent or provider, missing key, bad cwd). */
  openSession(order: SessionOrder): Promise<DemianSession>;
  close(): Promise<void>;
}

export interface ProviderChoice {
  key: string;
  type: string;
  model: string;
  /** False: the key is missing; `problem` names the variable to set. */
  isReady: boolean;
  problem?: string;
  /** Only a model is missing: usable once one is named. */
  needsModel?: true;
}

export interface RuntimeOrder {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** `--config` */
  configPath?: string;
  /** Flags as configuration: the strongest layer. */
  flags?: Record<string, unknown>;
  /** Agents of the embedding program. */
  agents?: readonly AgentDefinition[];
  /** Tools of the embedding program. */
  tools?: readonly ToolDefinition[];
  /** Providers of the embedding program, by key; they override configured ones. */
  providers?: ReadonlyMap<string, ResolvedProvider>;
  /** Use only what the embedding program provides: no files, variables or built-ins. */
  isAlone?: true;
}

export interface SessionOrder {
  /** `[A-Za-z0-9_-]+`; generated when absent. */
  sessionId?: string;
  agent?: string;
  provider?: string;
  model?: string;
  /** Default: the provider's. */
  effort?: Effort;
  /** Continues this conversation; system messages are dropped. */
  history?: readonly Message[];
  ask: Asker;
  question?(question: UserQuestion, signal: AbortSignal): Promise<string | undefined>;
  /** In order, synchronously. */
  onEvent(event: RuntimeEvent): void;
  /** Each message as it joins the history, in order; a client that stores them can resume after a crash. */
  onMessage?(message: Message): void;
  /** The history was rewritten (compaction). */
  onHistory?(history: readonly Message[]): void;
  /** Allow what would be asked. Denials and hooks still apply. */
  yes?: boolean;
  dryRun?: boolean;
  /** Added to the environment of commands. */
  env?: Readonly<Record<string, string>>;
  /** Default: from the configuration. */
  transcript?: boolean;
  /** MCP servers of the client, besides the configured ones. */
  mcpServers?: readonly Pick<McpOrder, "name" | "config">[];
}

export interface DemianSession {
  readonly id: string;
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
  /** Absent: the vendor's default. */
  readonly effort: Effort | undefined;
  /** "linux-bwrap", …; "none": commands are refused. */
  readonly sandbox: string;
  /** Without system messages. */
  readonly history: readonly Message[];
  /** Runs one user message to its answer. Rejects only for misuse (a turn is running, the session is closed). */
  run(input: TurnInput): Promise<TurnReport>;
  /**
   * Adds a message to the running turn: it is sent with the next model request. `returned`: the turn ended before that, no
   * turn is running, or its agent runs its own loop.
   */
  steer(input: Pick<TurnInput, "text" | "parts">): Promise<"taken" | "returned">;
  /** Ends the running turn; resolves once it has ended. */
  abort(): Promise<void>;
  /** Undefined: too little to compact. */
  compact(): CompactReport | undefined;
  /** Undefined: the session has no MCP servers. */
  readonly mcp?: McpControl | undefined;
  /** What the next request contains and what each part costs, as estimated. */
  context(): ContextReport;
  /** The last plan of a planning agent (`claudecode-plan`); a message can ask to carry it out. */
  readonly plan: string | undefined;
  /** Commands in the background. */
  readonly jobs: Pick<Jobs, "list" | "kill">;
  /** Runs a command of the user, between turns only. The model reads the output with the next message. */
  runCommand(command: UserCommand): Promise<UserCommandResult>;
  /** For the model to read with the next message. */
  addNote(note: string): void;
  /** Between turns only. If it rejects (unknown agent, missing key), nothing changed. */
  use(change: SessionChange): Promise<void>;
  close(): Promise<void>;
}

export interface SessionChange {
  agent?: string;
  provider?: string;
  model?: string;
  effort?: Effort;
}

export interface TurnInput {
  text: string;
  /** After the text, in order. */
  parts?: readonly UserContentPart[];
  /** Prepends the last plan to the text. */
  usePlan?: boolean;
  signal?: AbortSignal;
}

export interface TurnReport {
  outcome: TurnEnd;
  /** The final answer, or the part received before it was cut short. */
  text: string;
  turns: number;
  /** Total of the turn. */
  usage: TokenUsage;
  failure?: ProviderFailure;
  /** For the user; absent for "completed". */
  message?: string;
  /** The plan of a planning agent. */
  plan?: string;
}

export interface CompactReport {
  beforeTokens: number;
  afterTokens: number;
  dropped: number;
  kept: number;
  summaryTokens: number;
}

export interface ContextReport {
  provider: string;
  model: string;
  parts: ContextPart[];
  usedTokens: number;
  /** Absent for an agent with its own loop, which manages its context itself. */
  limitTokens?: number;
  /** From this size on, older messages are folded into the summary. */
  foldAtTokens?: number;
}

export interface ContextPart {
  kind: "system" | "instructions" | "tools" | "summary" | "messages";
  /** `system prompt`, `AGENTS.md`, `6 tools`. */
  name: string;
  tokens: number;
  /** Bytes of an instruction file that were left out. */
  omittedBytes?: number;
}
