// Public interface of the sessions.
export { shutdownError } from "./core/refusals.ts";
export { type HubOptions, SessionHub } from "./hub.ts";
export { recoverSessions } from "./recover.ts";
export type { Responded } from "./requests/frames.ts";
export { Ledger } from "./requests/ledger.ts";
export type { RespondOrder } from "./requests/types.ts";
export { drain } from "./shutdown.ts";
export { createPublisher, type Publisher } from "./stream/publish.ts";
export { createSessions, type Sessions, type SystemOptions } from "./system.ts";
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
