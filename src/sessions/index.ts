// Public interface of the sessions.

export type { McpConfig } from "./agent/extras.ts";
export { AUDIT_NAME } from "./audit/audit.ts";
export { readAudit } from "./audit/read-audit.ts";
export type { PriceTable } from "./budget/rates.ts";
export { type CheckpointParts, Checkpoints } from "./checkpoints/checkpoints.ts";
export { shutdownError } from "./core/refusals.ts";
export { FileFinder } from "./files/file-finder.ts";
export { type HubOptions, SessionHub } from "./hub.ts";
export type { Policy } from "./policy/policy.ts";
export { recoverSessions } from "./recover.ts";
export type { Responded } from "./requests/frames.ts";
export { Ledger } from "./requests/ledger.ts";
export type { RespondOrder } from "./requests/types.ts";
export { type Caller, findOwnSession, LOCAL, narrowCaller } from "./rights/caller.ts";
export type { IdentifyPeer, PeerFacts, PeerProcess } from "./rights/from-table.ts";
export { drain } from "./shutdown.ts";
export { createPublisher, type Publisher } from "./stream/publish.ts";
export { createSessions, type Sessions, type SystemOptions } from "./system.ts";
export { callTool, listTools } from "./tools/call.ts";
export type { Transcripts } from "./transcripts/transcripts.ts";
export type {
  Attachment,
  Batch,
  Client,
  CloseOrder,
  Hub,
  Opened,
  OpenOrder,
  RequestsFilter,
  RequestsPage,
  SessionCounts,
  SessionInfo,
  Subscriber,
} from "./types.ts";
export type { SearchOrder } from "./views/search.ts";
export type { UsageOrder } from "./views/usage.ts";
export type { Worktrees } from "./worktrees/worktrees.ts";
