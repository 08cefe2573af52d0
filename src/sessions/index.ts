// The door to the sessions.
export { type HubOptions, SessionHub } from "./hub.ts";
export { createPublisher, type Publisher } from "./publish.ts";
export { recoverSessions } from "./recover.ts";
export type { Responded } from "./request-words.ts";
export { Ledger, type RespondOrder } from "./requests.ts";
export { drain } from "./shutdown.ts";
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
