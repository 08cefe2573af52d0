// Providers that work with a login of the user's: Codex (as a model) and Claude Code (as an agent of its own).
import * as z from "zod";
import { modelSettings } from "./model-settings.ts";

const Reasoning = z.strictObject({
  effort: z
    .enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"])
    .default("medium")
    .describe("How long it thinks."),
  summary: z.enum(["auto", "concise", "detailed", "none"]).default("auto").describe("What is told of that."),
});

export const Codex = z.strictObject({
  type: z.literal("codex"),
  ...modelSettings,
  baseURL: z
    .url({ protocol: /^https?$/ })
    .default("https://chatgpt.com/backend-api/codex")
    .describe("Where requests go, without `/responses`."),
  codexHome: z
    .string()
    .min(1)
    .optional()
    .describe("Where Codex keeps its login; default: `$CODEX_HOME`, else `~/.codex`."),
  authStore: z
    .enum(["auto", "file", "keyring"])
    .default("auto")
    .describe("Where its login is looked for; `auto`: the keyring, then the file."),
  allowApiKeyFallback: z
    .boolean()
    .default(false)
    .describe("Use an API key where there is no login. It is billed by the request, not by the plan."),
  apiKeyEnv: z.string().default("OPENAI_API_KEY").describe("The variable that holds that key."),
  apiKeyBaseURL: z
    .url({ protocol: /^https?$/ })
    .default("https://api.openai.com/v1")
    .describe("Where requests with that key go."),
  promptCacheKey: z
    .enum(["root-session", "none"])
    .default("root-session")
    .describe("What the vendor's cache goes by."),
  responses: z
    .strictObject({
      store: z
        .literal(false)
        .default(false)
        .describe("The vendor keeps nothing; only `false` has a meaning."),
      include: z
        .array(z.string())
        .default(["reasoning.encrypted_content"])
        .describe("What answers shall contain."),
      reasoning: Reasoning.prefault({}),
    })
    .prefault({}),
  refresh: z
    .strictObject({
      url: z
        .url({ protocol: /^https?$/ })
        .default("https://auth.openai.com/oauth/token")
        .describe("Where the login is renewed."),
      clientId: z.string().min(1).default("app_EMoamEEZ73f0CkXaXp7hrann").describe("As which program."),
      proactiveMinutes: z.number().min(0).default(5).describe("So long before its end the login is renewed."),
    })
    .prefault({}),
});

export const ClaudeCode = z.strictObject({
  type: z.literal("claudecode"),
  ...modelSettings,
  runtime: z
    .enum(["agent-sdk", "cli"])
    .default("agent-sdk")
    .describe("How Claude Code is run: by its Agent SDK, or by its program. Nothing falls back by itself."),
  cliPath: z
    .string()
    .min(1)
    .optional()
    .describe("The `claude` program; default: `~/.local/bin/claude`, else the one on the PATH."),
  cwdMode: z.literal("session").default("session").describe("It works in the workspace of the session."),
  permissionMode: z
    .enum(["default", "plan"])
    .default("default")
    .describe("`plan`: it plans and changes nothing; the plan is its answer."),
  defaultDecision: z
    .enum(["by-category", "allow", "ask", "deny"])
    .default("by-category")
    .describe(
      "What happens to its tools where no rule fits; `by-category` allows reading and asks for the rest.",
    ),
  historyPolicy: z
    .enum(["passthrough-resume", "stateless"])
    .default("passthrough-resume")
    .describe("Whether it remembers earlier messages of the session."),
  onInvalidResume: z
    .enum(["fresh", "auto-recover", "prompt"])
    .default("fresh")
    .describe("When its session is gone: begin anew, begin anew with a summary of what was said, or ask."),
  attachmentFallback: z
    .enum(["block", "describe"])
    .default("block")
    .describe("For images that it cannot take: refuse the message, or say that there was one."),
  allowSubagents: z.boolean().default(false).describe("Whether it may use its own sub-agents."),
  sanitizeApiKeyEnv: z
    .boolean()
    .default(true)
    .describe("Keep API keys out of its environment, so that the login pays and not a key."),
  authPreflight: z
    .boolean()
    .default(true)
    .describe("Look for a login before the first message, and say so if there is none."),
  useBareMode: z.boolean().default(false).describe("Its `--bare` mode, which uses API keys only."),
  usageLedgerScope: z
    .enum(["process", "daily", "monthly"])
    .default("process")
    .describe("Over what costs are added up."),
  budgetUsd: z.number().gt(0).optional().describe("No more messages when that much was spent in that scope."),
  sessionLock: z
    .boolean()
    .default(true)
    .describe("Only one demian at a time uses the same session of Claude Code."),
  abortPolicy: z
    .enum(["record-only", "fresh"])
    .default("record-only")
    .describe("After an interrupted message: go on in the same session, or begin anew."),
  env: z.record(z.string(), z.string()).optional().describe("Added to its environment."),
});
