// The schema of demian's configuration (JSON). Layers are merged and validated against `DemianConfig` (load.ts);
// `ConfigFile` is one file, including older keys. The descriptions go into docs/demian-reference.md.
import * as z from "zod";
import { HOOK_EVENTS } from "../hooks/types.ts";
import { DECISIONS } from "../permissions/types.ts";
import { EFFORTS } from "../providers/effort.ts";
import { ClaudeCode, Codex } from "./login-providers.ts";
import { McpServers } from "./mcp-servers.ts";
import { modelSettings, tokens } from "./model-settings.ts";
import { Sandbox, WebFetch } from "./reach.ts";

const decision = z.enum(DECISIONS);
const ratio = z.number().gt(0).max(1);
const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "expected a name of letters, digits, _ and -");

export const PermissionRule = z.strictObject({
  tool: z.string().min(1).describe('A tool name, or "*" for all.'),
  match: z
    .strictObject({
      pathGlob: z.string().min(1).optional().describe("Match only these files."),
      commandPrefix: z
        .string()
        .min(1)
        .optional()
        .describe("Match only commands that start with these words."),
    })
    .optional(),
  decision: decision.describe("The decision."),
  reason: z.string().optional().describe("Shown to the user, and to the model with a denial."),
});

const Quirks = z.strictObject({
  omitTemperature: z.boolean().optional().describe("Omit `temperature`."),
  omitMaxTokens: z.boolean().optional().describe("Omit the limit on answer tokens."),
  maxCompletionTokens: z
    .boolean()
    .optional()
    .describe("Send `max_completion_tokens` instead of `max_tokens`."),
  omitToolChoice: z.boolean().optional().describe("Omit `tool_choice`."),
  omitStreamOptions: z
    .boolean()
    .optional()
    .describe("Omit `stream_options`; token usage is then not reported when streaming."),
  developerRole: z.boolean().optional().describe("Send the system prompt as a `developer` message."),
  omitTools: z.boolean().optional().describe("Send no tools; the model cannot call any."),
  noImages: z.boolean().optional().describe("The model does not accept images."),
  efforts: z
    .array(z.enum(EFFORTS))
    .min(1)
    .optional()
    .describe("The levels of `effort` that the vendor accepts; others become the nearest. Default: all."),
  promptCacheKey: z.boolean().optional().describe("Send `prompt_cache_key`, one per session."),
});

const Auth = z.strictObject({
  type: z
    .enum(["bearer", "api-key", "header", "none"])
    .describe("How to send the key. Default: depends on the URL."),
  header: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/)
    .optional()
    .describe('For "header": the header name.'),
});

export const OpenAICompatible = z.strictObject({
  type: z.literal("openai-compatible"),
  ...modelSettings,
  baseURL: z.url({ protocol: /^https?$/ }).describe("Base URL, without `/chat/completions`."),
  apiKeyEnv: z.string().optional().describe("The environment variable with the key."),
  apiKey: z.string().optional().describe("The key itself. Prefer `apiKeyEnv`."),
  auth: Auth.optional(),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string())
    .optional()
    .describe("Headers for every request."),
  quirks: Quirks.optional(),
});

export const Anthropic = z.strictObject({
  type: z.literal("anthropic"),
  ...modelSettings,
  baseURL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Overrides the vendor's URL."),
  apiKeyEnv: z.string().optional().describe("The environment variable with the key."),
  apiKey: z.string().optional().describe("The key itself. Prefer `apiKeyEnv`."),
});

/** Recognized but refused: resolving it explains why, and what to use. */
const Refused = z.looseObject({ type: z.literal("claudecode-api-legacy"), ...modelSettings });

export const ProviderConfig = z.discriminatedUnion("type", [
  OpenAICompatible,
  Anthropic,
  Codex,
  ClaudeCode,
  Refused,
]);
export type ProviderConfig = z.infer<typeof ProviderConfig>;
/** Before defaults are applied. */
export type ProviderInput = z.input<typeof ProviderConfig>;

/** Changes to an existing provider: a preset, or one of a weaker layer. */
const ProviderOverlay = OpenAICompatible.omit({ type: true }).partial();

export const AgentConfig = z.strictObject({
  name: name.optional().describe("Must equal the key, if present."),
  displayName: z.string().optional().describe("Name shown to users."),
  description: z.string().min(1).describe("One sentence about the agent."),
  mode: z
    .enum(["primary", "subagent", "all"])
    .default("primary")
    .describe("Whether it talks to the user, works for other agents, or both."),
  hidden: z.boolean().optional().describe("Hide it from lists."),
  provider: z
    .strictObject({
      profile: z
        .string()
        .optional()
        .describe("A key of `providers`, where URLs and API keys are configured."),
      inheritRoot: z
        .boolean()
        .optional()
        .describe("As a sub-agent: use the session's provider (default). `false`: use `defaultProvider`."),
    })
    .optional(),
  prompt: z.strictObject({
    system: z.string().min(1).describe("The system prompt."),
    append: z.string().optional().describe("Text added to the system prompt."),
  }),
  tools: z.strictObject({
    visible: z.array(z.string()).describe("The tools it sees. An empty list means none."),
  }),
  permissions: z.array(PermissionRule).default([]).describe("Rules of this agent."),
  defaultDecision: decision.optional().describe("Decision when no rule matches (default `ask`)."),
  delegation: z
    .strictObject({
      callable: z
        .boolean()
        .optional()
        .describe("Whether other agents may delegate to it. Default: yes for modes `subagent` and `all`."),
      canDelegate: z
        .boolean()
        .optional()
        .describe("Whether it may delegate. Default: yes for the main agent, no for sub-agents."),
      allowedAgents: z.array(z.string()).optional().describe("The only agents it may delegate to."),
      deniedAgents: z.array(z.string()).optional().describe("Agents it may not delegate to."),
      maxDepth: z
        .int()
        .min(0)
        .optional()
        .describe("Maximum delegation depth below it; `delegation.maxDepth` still applies."),
      invocationDecision: decision.optional().describe("Decision when another agent wants to start it."),
    })
    .optional(),
  authority: z
    .strictObject({
      tools: z.array(z.string()).optional().describe("Deprecated: narrows `tools.visible`."),
      permissions: z.array(PermissionRule).optional().describe("Rules checked before `permissions`."),
      defaultDecision: decision.optional().describe("Overrides the agent's `defaultDecision`."),
    })
    .optional(),
  catalog: z
    .strictObject({
      category: z.string().optional().describe("Kind of agent: `reviewer`, `builder`, …"),
      cost: z.string().optional().describe("`free`, `cheap`, `standard` or `expensive`."),
      useWhen: z.array(z.string()).optional().describe("When to delegate to it."),
      avoidWhen: z.array(z.string()).optional().describe("When not to delegate to it."),
      triggers: z.array(z.string()).optional().describe("Stored with the agent, not sent to models."),
    })
    .optional(),
});

export type AgentConfig = z.infer<typeof AgentConfig>;

export const HookConfig = z.strictObject({
  name: name.describe("Name shown to users."),
  event: z.enum(HOOK_EVENTS).describe("The event that runs it."),
  match: z
    .strictObject({
      tool: z.string().optional().describe('Only for this tool; separate several with "|".'),
      agent: z.string().optional().describe("Only for this agent."),
    })
    .optional(),
  command: z.string().min(1).describe("Run by your shell, with your rights, outside the sandbox."),
  timeoutMs: z.int().min(1).max(600_000).optional().describe("Timeout in ms."),
  onError: z
    .enum(["warn", "block"])
    .optional()
    .describe("On failure: warn (default), or block the guarded action."),
});

const MainContext = z.strictObject({
  maxContextTokens: tokens
    .optional()
    .describe("Maximum tokens in one request, estimated. Default: depends on the model."),
  compactAtRatio: ratio
    .default(0.7)
    .describe("Summarize older turns above this share of `maxContextTokens`."),
  summaryTargetTokens: tokens.default(3000).describe("Maximum tokens of that summary."),
  recentTurns: z.int().min(1).default(6).describe("Turns to keep unchanged."),
  minRecentTurns: z.int().min(1).default(2).describe("Turns to keep when space is short."),
  maxRawMessages: z.int().min(2).optional().describe("Also summarize above this number of messages."),
  maxInlineToolResultTokens: tokens
    .default(2000)
    .describe("Cut older tool results to this length when space is short."),
  reserveForImagesTokens: z.int().min(0).default(4000).describe("Minimum to reserve if there are images."),
  compression: z
    .enum(["model", "deterministic"])
    .default("model")
    .describe("Who writes the summary: the model, or rules without a model."),
  keepRawDelegateResults: z
    .int()
    .min(0)
    .default(2)
    .describe("Sub-agent results to keep whole; older ones are summarized."),
  maxDelegateResultTokens: tokens
    .default(1000)
    .describe("Maximum tokens of a sub-agent result the main agent reads."),
  ledgerTargetTokens: tokens
    .default(1200)
    .describe("Maximum tokens of the ledger of older sub-agent results."),
  retrievalMaxTokens: tokens.default(3000).describe("Accepted for older files; has no effect."),
});

const SubAgentContext = z.strictObject({
  memoryScope: z
    .literal("root-session")
    .default("root-session")
    .describe("Sub-agents remember earlier tasks of the same session only."),
  maxContextTokens: tokens
    .default(12_000)
    .describe("Maximum tokens in one request of a sub-agent, estimated."),
  compactAtRatio: ratio
    .default(0.7)
    .describe("Summarize earlier work above this share of `maxContextTokens`."),
  summaryTargetTokens: tokens.default(1200).describe("Maximum tokens of the summary of its earlier work."),
  recentTurns: z.int().min(1).default(3).describe("Earlier tasks to keep unchanged."),
  minRecentTurns: z.int().min(1).default(1).describe("Tasks to keep when space is short."),
  maxHandoffTokens: tokens.default(2000).describe("Maximum tokens of a handoff."),
  maxDelegateContextTokens: tokens.default(1000).describe("Maximum tokens of `context` in a handoff."),
  maxResultTokensToMain: tokens.default(1000).describe("Maximum tokens of a result."),
  compression: z
    .enum(["compact-summary-and-recent", "summary-and-recent", "none"])
    .default("compact-summary-and-recent")
    .describe(
      "How to keep earlier work: summary and recent turns; `compact-` also cuts results short; `none` drops the oldest turns.",
    ),
});

const Trust = z.strictObject({
  userTools: z
    .boolean()
    .default(false)
    .describe("Load tool modules from `~/.demian/tools` without asking for each."),
  project: z
    .boolean()
    .default(false)
    .describe(
      "Only from `--trust-project`: trusts the current config, agents and tools of the project. Ignored in files.",
    ),
});

export const DemianConfig = z.strictObject({
  agentMode: z
    .enum(["single-agent", "multi-agent"])
    .default("single-agent")
    .describe("`multi-agent`: the agent may delegate to sub-agents."),
  defaultAgent: z.string().default("build").describe("The agent of new sessions."),
  defaultProvider: z
    .string()
    .default("openai")
    .describe("The provider of new sessions: a key of `providers`."),
  maxTurns: z.int().min(1).default(25).describe("Maximum model requests per user message."),
  streaming: z.strictObject({ enabled: z.boolean().default(true).describe("Stream answers.") }).prefault({}),
  sandbox: Sandbox.prefault({}),
  persistentGrants: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Remember "always" answers after the session.'),
      scope: z.literal("project").default("project").describe("Sessions they apply to."),
      ttlMs: z
        .int()
        .min(1000)
        .default(604_800_000)
        .describe("How long they are remembered, in ms. Default: seven days."),
    })
    .prefault({}),
  transcript: z
    .strictObject({ enabled: z.boolean().default(true).describe("Write a transcript of each session.") })
    .prefault({}),
  instructions: z
    .strictObject({
      enabled: z.boolean().default(true).describe("Give `AGENTS.md` and `CLAUDE.md` files to the model."),
    })
    .prefault({}),
  multimodal: z
    .strictObject({
      maxImageBytes: z.int().min(1).default(8_388_608).describe("Maximum size of an image file, in bytes."),
      detail: z.enum(["auto", "low", "high"]).default("auto").describe("Image detail level for the model."),
    })
    .prefault({}),
  permissions: z
    .array(PermissionRule)
    .default([])
    .describe("Rules for all agents; a denial here always wins. Rules of all files apply."),
  hooks: z.array(HookConfig).default([]).describe("Programs to run on events. Hooks of all files apply."),
  delegation: z
    .strictObject({
      maxDepth: z.int().min(0).default(1).describe("Maximum delegation depth; 0 disables delegation."),
      defaultInvocationDecision: decision
        .default("ask")
        .describe("Decision when an agent wants to start one without its own `invocationDecision`."),
      subInvocationMaxTurns: z
        .int()
        .min(1)
        .default(10)
        .describe("Maximum model requests per delegated task."),
    })
    .prefault({}),
  context: z
    .strictObject({ main: MainContext.prefault({}), subAgent: SubAgentContext.prefault({}) })
    .prefault({}),
  trust: Trust.prefault({}),
  providers: z.record(name, ProviderConfig).default({}).describe("Model providers; see below."),
  agents: z.record(name, AgentConfig).default({}).describe("Your own agents; see below."),
  webFetch: WebFetch.prefault({}),
  mcpServers: McpServers.default({}).describe("MCP servers; see below."),
});
export type DemianConfig = z.infer<typeof DemianConfig>;

const older = (instead: string) => ({
  deprecated: true,
  description: `Deprecated name of \`${instead}\`.`,
});
const olderContext = {
  maxInputTokens: tokens.optional().meta(older("maxContextTokens")),
  compressAtRatio: ratio.optional().meta(older("compactAtRatio")),
};

/**
 * One file: everything is optional, existing providers can be changed in part, and older keys are accepted (layer.ts).
 */
export const ConfigFile = DemianConfig.extend({
  $schema: z.string().optional().describe("JSON Schema, for editors."),
  mode: DemianConfig.shape.agentMode.unwrap().optional().meta(older("agentMode")),
  multiAgent: z.strictObject({ enabled: z.boolean().optional() }).optional().meta(older("agentMode")),
  context: z
    .strictObject({
      main: MainContext.extend(olderContext).optional(),
      subAgent: SubAgentContext.extend(olderContext).optional(),
    })
    .optional(),
  providers: z.record(name, z.union([ProviderConfig, ProviderOverlay])).optional(),
});
