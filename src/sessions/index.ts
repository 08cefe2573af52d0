// The door to the sessions.
export { type HubOptions, SessionHub } from "./hub.ts";
export { createPublisher, type Publisher } from "./publish.ts";
export { recoverTurns } from "./recover.ts";
export { drain } from "./shutdown.ts";
export type {
  Attachment,
  Batch,
  Client,
  CloseOrder,
  Hub,
  Opened,
  OpenOrder,
  SessionCounts,
  SessionInfo,
  Subscriber,
} from "./types.ts";
