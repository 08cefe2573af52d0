// The shape of demian's configuration (JSON). Every layer is checked against `ConfigLayer`; merged, it is `DemianConfig`.
import * as z from "zod";
import { HOOK_EVENTS } from "../hooks/types.ts";
import { DECISIONS } from "../permissions/types.ts";
import { SANDBOX_MODES } from "../sandbox/types.ts";

const decision = z.enum(DECISIONS);
const tokens = z.int().min(1);
const ratio = z.number().gt(0).max(1);
const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "expected a name of letters, digits, _ and -");

export const PermissionRule = z.strictObject({
  tool: z.string().min(1),
  match: z
    .strictObject({ pathGlob: z.string().min(1).optional(), commandPrefix: z.string().min(1).optional() })
    .optional(),
  decision,
  reason: z.string().optional(),
});

const Quirks = z.strictObject({
  omitTemperature: z.boolean().optional(),
  omitMaxTokens: z.boolean().optional(),
  /** Sends `max_completion_tokens` instead of `max_tokens`. */
  maxCompletionTokens: z.boolean().optional(),
  omitToolChoice: z.boolean().optional(),
  /** No `stream_options`: usage is then not told while streaming. */
  omitStreamOptions: z.boolean().optional(),
  /** The system prompt goes as a `developer` message. */
  developerRole: z.boolean().optional(),
  /** No tools at all: the model cannot call any. */
  omitTools: z.boolean().optional(),
  noImages: z.boolean().optional(),
});

const Auth = z.strictObject({
  type: z.enum(["bearer", "api-key", "header", "none"]),
  /** With "header". */
  header: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/)
    .optional(),
});

const modelSettings = {
  model: z.string().min(1).optional(),
  maxTokens: tokens.optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** Added to what the retries do by default. */
  maxRetries: z.int().min(0).max(20).optional(),
};

export const OpenAICompatible = z.strictObject({
  type: z.literal("openai-compatible"),
  ...modelSettings,
  baseURL: z.url({ protocol: /^https?$/ }),
  apiKeyEnv: z.string().optional(),
  apiKey: z.string().optional(),
  auth: Auth.optional(),
  headers: z.record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string()).optional(),
  quirks: Quirks.optional(),
});

export const Anthropic = z.strictObject({
  type: z.literal("anthropic"),
  ...modelSettings,
  baseURL: z.url({ protocol: /^https?$/ }).optional(),
  apiKeyEnv: z.string().optional(),
  apiKey: z.string().optional(),
});

/** Answers from a script: for tests and for the demo agent. Holds no secret and reaches nothing. */
export const Scripted = z.strictObject({
  type: z.literal("scripted"),
  ...modelSettings,
  /** Between two words. */
  paceMs: z.int().min(0).max(10_000).optional(),
});

/** Known by name, but not here (yet): resolving one says why. */
const NotHere = z.looseObject({
  type: z.enum(["codex", "claudecode", "claudecode-api-legacy"]),
  ...modelSettings,
});

export const ProviderConfig = z.discriminatedUnion("type", [OpenAICompatible, Anthropic, Scripted, NotHere]);
export type ProviderConfig = z.infer<typeof ProviderConfig>;

export const AgentConfig = z.strictObject({
  name: name.optional(),
  displayName: z.string().optional(),
  description: z.string().min(1),
  mode: z.enum(["primary", "subagent", "all"]).default("primary"),
  hidden: z.boolean().optional(),
  provider: z
    .strictObject({ profile: z.string().optional(), inheritRoot: z.boolean().optional() })
    .optional(),
  prompt: z.strictObject({ system: z.string().min(1), append: z.string().optional() }),
  tools: z.strictObject({ visible: z.array(z.string()) }),
  permissions: z.array(PermissionRule).default([]),
  defaultDecision: decision.optional(),
  delegation: z
    .strictObject({
      callable: z.boolean().optional(),
      canDelegate: z.boolean().optional(),
      allowedAgents: z.array(z.string()).optional(),
      deniedAgents: z.array(z.string()).optional(),
      maxDepth: z.int().min(0).optional(),
      invocationDecision: decision.optional(),
    })
    .optional(),
  catalog: z
    .strictObject({
      category: z.string().optional(),
      cost: z.string().optional(),
      useWhen: z.array(z.string()).optional(),
      avoidWhen: z.array(z.string()).optional(),
      triggers: z.array(z.string()).optional(),
    })
    .optional(),
});

export const HookConfig = z.strictObject({
  name,
  event: z.enum(HOOK_EVENTS),
  match: z.strictObject({ tool: z.string().optional(), agent: z.string().optional() }).optional(),
  command: z.string().min(1),
  timeoutMs: z.int().min(1).max(600_000).optional(),
  onError: z.enum(["warn", "block"]).optional(),
});

export const DemianConfig = z.strictObject({
  agentMode: z.enum(["single-agent", "multi-agent"]).default("single-agent"),
  defaultAgent: z.string().default("build"),
  defaultProvider: z.string().default("openai"),
  maxTurns: z.int().min(1).default(25),
  streaming: z.strictObject({ enabled: z.boolean().default(true) }).prefault({}),
  sandbox: z
    .strictObject({
      mode: z.enum(SANDBOX_MODES).default("workspace-write"),
      network: z.enum(["inherit", "deny"]).default("inherit"),
      allowEnvOnly: z.boolean().default(false),
      writableGit: z.boolean().default(false),
    })
    .prefault({}),
  persistentGrants: z
    .strictObject({
      enabled: z.boolean().default(true),
      scope: z.literal("project").default("project"),
      ttlMs: z.int().min(1000).default(604_800_000),
    })
    .prefault({}),
  transcript: z.strictObject({ enabled: z.boolean().default(true) }).prefault({}),
  multimodal: z
    .strictObject({
      maxImageBytes: z.int().min(1).default(8_388_608),
      detail: z.enum(["auto", "low", "high"]).default("auto"),
    })
    .prefault({}),
  /** The user's own rules, before every agent's. */
  permissions: z.array(PermissionRule).default([]),
  hooks: z.array(HookConfig).default([]),
  context: z
    .strictObject({
      main: z
        .strictObject({
          maxContextTokens: tokens.default(48_000),
          compactAtRatio: ratio.default(0.7),
          summaryTargetTokens: tokens.default(3000),
          recentTurns: z.int().min(1).default(6),
          minRecentTurns: z.int().min(1).default(2),
        })
        .prefault({}),
    })
    .prefault({}),
  providers: z.record(name, ProviderConfig).default({}),
  agents: z.record(name, AgentConfig).default({}),
});
export type DemianConfig = z.infer<typeof DemianConfig>;
