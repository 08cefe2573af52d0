// The shape of demian's configuration (JSON). Layers are merged as they are and checked against `DemianConfig` after each
// (load.ts); what one file may say, with the older names too, is `ConfigFile`. The descriptions go into docs/demian.md.
import * as z from "zod";
import { HOOK_EVENTS } from "../hooks/types.ts";
import { DECISIONS } from "../permissions/types.ts";
import { SANDBOX_MODES } from "../sandbox/types.ts";
import { ClaudeCode, Codex } from "./login-providers.ts";
import { modelSettings, tokens } from "./model-settings.ts";

const decision = z.enum(DECISIONS);
const ratio = z.number().gt(0).max(1);
const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "expected a name of letters, digits, _ and -");

export const PermissionRule = z.strictObject({
  tool: z.string().min(1).describe('A tool, or "*".'),
  match: z
    .strictObject({
      pathGlob: z.string().min(1).optional().describe("Only for these files."),
      commandPrefix: z.string().min(1).optional().describe("Only for commands that begin with these words."),
    })
    .optional(),
  decision: decision.describe("What happens."),
  reason: z.string().optional().describe("Told to people, and to the model with a denial."),
});

const Quirks = z.strictObject({
  omitTemperature: z.boolean().optional().describe("Sends no `temperature`."),
  omitMaxTokens: z.boolean().optional().describe("Sends no limit of the answer."),
  maxCompletionTokens: z
    .boolean()
    .optional()
    .describe("Sends `max_completion_tokens` instead of `max_tokens`."),
  omitToolChoice: z.boolean().optional().describe("Sends no `tool_choice`."),
  omitStreamOptions: z
    .boolean()
    .optional()
    .describe("Sends no `stream_options`: usage is then not told while streaming."),
  developerRole: z.boolean().optional().describe("The system prompt goes as a `developer` message."),
  omitTools: z.boolean().optional().describe("No tools at all: the model cannot call any."),
  noImages: z.boolean().optional().describe("The model cannot see images."),
});

const Auth = z.strictObject({
  type: z
    .enum(["bearer", "api-key", "header", "none"])
    .describe("How the key is sent; found out from the address by default."),
  header: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/)
    .optional()
    .describe('With "header": its name.'),
});

export const OpenAICompatible = z.strictObject({
  type: z.literal("openai-compatible"),
  ...modelSettings,
  baseURL: z.url({ protocol: /^https?$/ }).describe("Where requests go, without `/chat/completions`."),
  apiKeyEnv: z.string().optional().describe("The environment variable that holds the key."),
  apiKey: z.string().optional().describe("The key itself. Better use `apiKeyEnv`."),
  auth: Auth.optional(),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string())
    .optional()
    .describe("Sent with every request."),
  quirks: Quirks.optional(),
});

export const Anthropic = z.strictObject({
  type: z.literal("anthropic"),
  ...modelSettings,
  baseURL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Another address than the vendor's."),
  apiKeyEnv: z.string().optional().describe("The environment variable that holds the key."),
  apiKey: z.string().optional().describe("The key itself. Better use `apiKeyEnv`."),
});

/** Known by name and refused: resolving one says why, and what to use. */
const Refused = z.looseObject({ type: z.literal("claudecode-api-legacy"), ...modelSettings });

export const ProviderConfig = z.discriminatedUnion("type", [
  OpenAICompatible,
  Anthropic,
  Codex,
  ClaudeCode,
  Refused,
]);
export type ProviderConfig = z.infer<typeof ProviderConfig>;
/** Before defaults are filled in. */
export type ProviderInput = z.input<typeof ProviderConfig>;

/** What a file says of a provider that is there already: a preset, or one of a weaker layer. */
const ProviderOverlay = OpenAICompatible.omit({ type: true }).partial();

export const AgentConfig = z.strictObject({
  name: name.optional().describe("The same as its key, if it is there at all."),
  displayName: z.string().optional().describe("How people see it."),
  description: z.string().min(1).describe("One sentence."),
  mode: z
    .enum(["primary", "subagent", "all"])
    .default("primary")
    .describe("Whether it talks to the user, works for other agents, or both."),
  hidden: z.boolean().optional().describe("Not offered in lists."),
  provider: z
    .strictObject({
      profile: z
        .string()
        .optional()
        .describe("A key of `providers`. Addresses and keys stand there and nowhere else."),
      inheritRoot: z
        .boolean()
        .optional()
        .describe(
          "As a sub-agent: use the provider of the session (the default). `false`: `defaultProvider`.",
        ),
    })
    .optional(),
  prompt: z.strictObject({
    system: z.string().min(1).describe("The system prompt."),
    append: z.string().optional().describe("Added to it."),
  }),
  tools: z.strictObject({
    visible: z.array(z.string()).describe("The tools that it sees. An empty list is none."),
  }),
  permissions: z.array(PermissionRule).default([]).describe("Its own rules."),
  defaultDecision: decision.optional().describe("What happens where no rule fits; `ask` if nothing says."),
  delegation: z
    .strictObject({
      callable: z
        .boolean()
        .optional()
        .describe("Whether other agents may delegate to it; by default those of mode `subagent` and `all`."),
      canDelegate: z
        .boolean()
        .optional()
        .describe("Whether it may delegate. By default the main agent may, a sub-agent may not."),
      allowedAgents: z.array(z.string()).optional().describe("It may delegate to these only."),
      deniedAgents: z.array(z.string()).optional().describe("It may not delegate to these."),
      maxDepth: z
        .int()
        .min(0)
        .optional()
        .describe("How deep delegation may go below it; never deeper than `delegation.maxDepth`."),
      invocationDecision: decision.optional().describe("What happens when another agent wants to start it."),
    })
    .optional(),
  authority: z
    .strictObject({
      tools: z.array(z.string()).optional().describe("An older way to narrow `tools.visible`."),
      permissions: z.array(PermissionRule).optional().describe("Rules that stand before `permissions`."),
      defaultDecision: decision.optional().describe("Wins over the agent's own."),
    })
    .optional(),
  catalog: z
    .strictObject({
      category: z.string().optional().describe("What kind it is: `reviewer`, `builder`, …"),
      cost: z.string().optional().describe("`free`, `cheap`, `standard` or `expensive`."),
      useWhen: z.array(z.string()).optional().describe("When the main agent should delegate to it."),
      avoidWhen: z.array(z.string()).optional().describe("When it should not."),
      triggers: z.array(z.string()).optional().describe("Kept with the agent, not told to models."),
    })
    .optional(),
});

export type AgentConfig = z.infer<typeof AgentConfig>;

export const HookConfig = z.strictObject({
  name: name.describe("For people."),
  event: z.enum(HOOK_EVENTS).describe("When it runs."),
  match: z
    .strictObject({
      tool: z.string().optional().describe('Only for this tool; several with "|".'),
      agent: z.string().optional().describe("Only for this agent."),
    })
    .optional(),
  command: z.string().min(1).describe("Run by your shell, with your rights, outside of the sandbox."),
  timeoutMs: z.int().min(1).max(600_000).optional().describe("How long it may take."),
  onError: z
    .enum(["warn", "block"])
    .optional()
    .describe("What its failure means: a warning (default), or that what it guards does not happen."),
});

const MainContext = z.strictObject({
  maxContextTokens: tokens
    .optional()
    .describe("Maximum tokens in one request, estimated. Default: depends on the model."),
  compactAtRatio: ratio
    .default(0.7)
    .describe("Older turns are folded into a summary from this part of it on."),
  summaryTargetTokens: tokens.default(3000).describe("How long that summary may be."),
  recentTurns: z.int().min(1).default(6).describe("Turns that stay as they are."),
  minRecentTurns: z.int().min(1).default(2).describe("The same when space is short."),
  maxRawMessages: z.int().min(2).optional().describe("Fold also when there are more messages than this."),
  maxInlineToolResultTokens: tokens
    .default(2000)
    .describe("Older tool results are cut to this length when space is short."),
  reserveForImagesTokens: z
    .int()
    .min(0)
    .default(4000)
    .describe("What images count at least, when there are any."),
  compression: z
    .literal("deterministic")
    .default("deterministic")
    .describe("How it is folded: by rule, without a model."),
  keepRawDelegateResults: z
    .int()
    .min(0)
    .default(2)
    .describe("How many sub-agent results are kept whole when turns are folded; older ones are summarized."),
  maxDelegateResultTokens: tokens
    .default(1000)
    .describe("The longest result of a sub-agent that the main agent reads."),
  ledgerTargetTokens: tokens.default(1200).describe("How long that ledger may be."),
  retrievalMaxTokens: tokens.default(3000).describe("Accepted for older files; nothing is retrieved."),
});

const SubAgentContext = z.strictObject({
  memoryScope: z
    .literal("root-session")
    .default("root-session")
    .describe("Sub-agents remember earlier tasks of the same session, and nothing else."),
  maxContextTokens: tokens
    .default(12_000)
    .describe("The most that one request shows to a sub-agent, estimated."),
  compactAtRatio: ratio.default(0.7).describe("As for the main agent."),
  summaryTargetTokens: tokens.default(1200).describe("How long the summary of its earlier work may be."),
  recentTurns: z.int().min(1).default(3).describe("Earlier tasks that stay as they are."),
  minRecentTurns: z.int().min(1).default(1).describe("The same when space is short."),
  maxHandoffTokens: tokens.default(2000).describe("The longest handoff."),
  maxDelegateContextTokens: tokens.default(1000).describe("The longest `context` in it."),
  maxResultTokensToMain: tokens.default(1000).describe("The longest result that goes back."),
  compression: z
    .enum(["compact-summary-and-recent", "summary-and-recent", "none"])
    .default("compact-summary-and-recent")
    .describe(
      "How its earlier work is kept: a summary and recent turns, compact with results cut short; none: oldest turns are dropped.",
    ),
});

const Trust = z.strictObject({
  userTools: z
    .boolean()
    .default(false)
    .describe("Load tool modules of `~/.demian/tools` without asking for each."),
  project: z
    .boolean()
    .default(false)
    .describe(
      "Only from `--trust-project`: trusts the project's config, agents and tools as they are now. In a file it is ignored.",
    ),
});

export const DemianConfig = z.strictObject({
  agentMode: z
    .enum(["single-agent", "multi-agent"])
    .default("single-agent")
    .describe("`multi-agent`: the agent may delegate to sub-agents."),
  defaultAgent: z.string().default("build").describe("The agent of a new session."),
  defaultProvider: z.string().default("openai").describe("A key of `providers`."),
  maxTurns: z.int().min(1).default(25).describe("Questions to the model for one message of the user."),
  streaming: z
    .strictObject({ enabled: z.boolean().default(true).describe("Show the answer while it comes.") })
    .prefault({}),
  sandbox: z
    .strictObject({
      mode: z.enum(SANDBOX_MODES).default("workspace-write").describe("How commands are held."),
      network: z.enum(["inherit", "deny"]).default("inherit").describe("Whether commands reach the network."),
      allowEnvOnly: z
        .boolean()
        .default(false)
        .describe("Run commands although no sandbox works here. Without it they are refused."),
      writableGit: z.boolean().default(false).describe("Commands may write `.git`."),
      writable: z
        .array(z.string().regex(/^(\/|~\/)[^\0]*$/, "expected a path that begins with / or ~/"))
        .default([])
        .describe("More directories that commands may write to. They must exist."),
    })
    .prefault({}),
  persistentGrants: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Whether an "always" is remembered after the session.'),
      scope: z.literal("project").default("project").describe("For which sessions."),
      ttlMs: z.int().min(1000).default(604_800_000).describe("For how long: seven days."),
    })
    .prefault({}),
  transcript: z
    .strictObject({ enabled: z.boolean().default(true).describe("Keep a transcript of each session.") })
    .prefault({}),
  multimodal: z
    .strictObject({
      maxImageBytes: z.int().min(1).default(8_388_608).describe("The largest image file that is sent."),
      detail: z.enum(["auto", "low", "high"]).default("auto").describe("How closely the model looks at it."),
    })
    .prefault({}),
  permissions: z
    .array(PermissionRule)
    .default([])
    .describe("Rules for every agent; a denial here dominates everything. Those of all files count."),
  hooks: z
    .array(HookConfig)
    .default([])
    .describe("Programs that are told what happens. Those of all files count."),
  delegation: z
    .strictObject({
      maxDepth: z.int().min(0).default(1).describe("How deep delegation may go; 0: none."),
      defaultInvocationDecision: decision
        .default("ask")
        .describe("What happens when an agent wants to start another one that says nothing itself."),
      subInvocationMaxTurns: z
        .int()
        .min(1)
        .default(10)
        .describe("Questions to the model for one delegated task."),
    })
    .prefault({}),
  context: z
    .strictObject({ main: MainContext.prefault({}), subAgent: SubAgentContext.prefault({}) })
    .prefault({}),
  trust: Trust.prefault({}),
  providers: z.record(name, ProviderConfig).default({}).describe("Where models are asked; see below."),
  agents: z.record(name, AgentConfig).default({}).describe("Your own agents; see below."),
});
export type DemianConfig = z.infer<typeof DemianConfig>;

const older = (instead: string) => ({
  deprecated: true,
  description: `The older name of \`${instead}\`.`,
});
const olderContext = {
  maxInputTokens: tokens.optional().meta(older("maxContextTokens")),
  compressAtRatio: ratio.optional().meta(older("compactAtRatio")),
};

/** One file: everything is optional, providers may only change what is there, and older names are taken (layer.ts). */
export const ConfigFile = DemianConfig.extend({
  $schema: z.string().optional().describe("For editors."),
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
