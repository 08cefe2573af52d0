// The library `blemees/demian`: the runtime in your own program, and the types for authors of tools.
export { CodedError } from "../base/coded-error.ts";
export type { AgentDefinition } from "./agents/types.ts";
export type { RuntimeEvent, TurnEnd } from "./events.ts";
export type {
  AssistantMessage,
  Message,
  ToolCall,
  ToolMessage,
  UserContentPart,
  UserMessage,
} from "./messages.ts";
export type {
  Asker,
  Decision,
  PermissionAnswer,
  PermissionPrompt,
  PermissionRule,
} from "./permissions/types.ts";
export { createScriptedProvider, type ScriptedReply } from "./providers/scripted/index.ts";
export {
  type ChatRequest,
  type ChatResponse,
  type ChatStreamEvent,
  type NativeProvider,
  type Provider,
  ProviderError,
  type ProviderFailure,
  type TokenUsage,
} from "./providers/types.ts";
export { createRuntime } from "./runtime.ts";
export type {
  CompactReport,
  ContextReport,
  DemianSession,
  ProviderChoice,
  Runtime,
  RuntimeOrder,
  SessionOrder,
  TurnInput,
  TurnReport,
} from "./session-types.ts";
export type { ModuleContext as ToolContext } from "./tools/module-call.ts";
export { createTool, type ToolModule } from "./tools/modules.ts";
export type { SideEffect, ToolDefinition, ToolResult, UserQuestion } from "./tools/types.ts";
