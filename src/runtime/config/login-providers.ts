// Providers that use the user's login: Codex (as a model) and Claude Code (as an external agent).
import * as z from "zod";
import { EFFORTS } from "../providers/effort.ts";
import { modelSettings } from "./model-settings.ts";

const Reasoning = z.strictObject({
  effort: z.enum(EFFORTS).default("medium").describe("Reasoning effort, if `effort` is not set."),
  summary: z
    .enum(["auto", "concise", "detailed", "none"])
    .default("auto")
    .describe("Reasoning summaries to return."),
});

export const Codex = z.strictObject({
  type: z.literal("codex"),
  ...modelSettings,
  baseURL: z
    .url({ protocol: /^https?$/ })
    .default("https://chatgpt.com/backend-api/codex")
    .describe("Base URL, without `/responses`."),
  codexHome: z
    .string()
    .min(1)
    .optional()
    .describe("Directory of the Codex login. Default: `$CODEX_HOME`, else `~/.codex`."),
  authStore: z
    .enum(["auto", "file", "keyring"])
    .default("auto")
    .describe("Where to find the login. `auto`: the keyring, then the file."),
  allowApiKeyFallback: z
    .boolean()
    .default(false)
    .describe("Use an API key if there is no login. Requests are billed to the key, not the plan."),
  apiKeyEnv: z.string().default("OPENAI_API_KEY").describe("The environment variable with that key."),
  apiKeyBaseURL: z
    .url({ protocol: /^https?$/ })
    .default("https://api.openai.com/v1")
    .describe("Base URL for requests with that key."),
  promptCacheKey: z
    .enum(["root-session", "none"])
    .default("root-session")
    .describe("The vendor's prompt cache key: one per session, or none."),
  responses: z
    .strictObject({
      store: z
        .literal(false)
        .default(false)
        .describe("Whether the vendor stores responses; only `false` is supported."),
      include: z
        .array(z.string())
        .default(["reasoning.encrypted_content"])
        .describe("Extra fields to include in responses."),
      reasoning: Reasoning.prefault({}),
    })
    .prefault({}),
  refresh: z
    .strictObject({
      url: z
        .url({ protocol: /^https?$/ })
        .default("https://auth.openai.com/oauth/token")
        .describe("URL for renewing the login."),
      clientId: z.string().min(1).default("app_EMoamEEZ73f0CkXaXp7hrann").describe("OAuth client id."),
      proactiveMinutes: z
        .number()
        .min(0)
        .default(5)
        .describe("Renew the login this many minutes before it expires."),
    })
    .prefault({}),
});

export const ClaudeCode = z.strictObject({
  type: z.literal("claudecode"),
  ...modelSettings,
  runtime: z
    .enum(["agent-sdk", "cli"])
    .default("agent-sdk")
    .describe("Run Claude Code through its Agent SDK or its CLI. There is no automatic fallback."),
  cliPath: z
    .string()
    .min(1)
    .optional()
    .describe("Path of the `claude` program. Default: `~/.local/bin/claude`, else the one on PATH."),
  cwdMode: z.literal("session").default("session").describe("Working directory: the session's workspace."),
  permissionMode: z
    .enum(["default", "plan"])
    .default("default")
    .describe("`plan`: Claude Code only plans and changes nothing; the plan is its answer."),
  defaultDecision: z
    .enum(["by-category", "allow", "ask", "deny"])
    .default("by-category")
    .describe(
      "Decision for its tools when no rule matches. `by-category` allows reading and asks for the rest.",
    ),
  historyPolicy: z
    .enum(["passthrough-resume", "stateless"])
    .default("passthrough-resume")
    .describe("Whether it remembers earlier messages of the session."),
  onInvalidResume: z
    .enum(["fresh", "auto-recover", "prompt"])
    .default("fresh")
    .describe(
      "If its session is lost: start a new one, start one with a summary of the conversation, or ask.",
    ),
  attachmentFallback: z
    .enum(["block", "describe"])
    .default("block")
    .describe("For unsupported images: refuse the message, or mention the image in the text."),
  allowSubagents: z.boolean().default(false).describe("Whether it may use its own sub-agents."),
  sanitizeApiKeyEnv: z
    .boolean()
    .default(true)
    .describe("Remove API keys from its environment, so that it uses the login."),
  authPreflight: z
    .boolean()
    .default(true)
    .describe("Check for a login before the first message, and report if there is none."),
  useBareMode: z.boolean().default(false).describe("Use its `--bare` mode, which works with API keys only."),
  usageLedgerScope: z
    .enum(["process", "daily", "monthly"])
    .default("process")
    .describe("Period over which costs are added up."),
  budgetUsd: z
    .number()
    .gt(0)
    .optional()
    .describe("Refuse messages once this amount was spent within that period."),
  sessionLock: z
    .boolean()
    .default(true)
    .describe("Allow only one demian process at a time per Claude Code session."),
  abortPolicy: z
    .enum(["record-only", "fresh"])
    .default("record-only")
    .describe("After an interrupted message: continue in the same session, or start a new one."),
  env: z.record(z.string(), z.string()).optional().describe("Extra environment variables."),
});
