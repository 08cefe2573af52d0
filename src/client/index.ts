// The library `blemees/client`: connect to the daemon, open sessions, run turns, watch, resume; and its HTTP API.
export { CodedError } from "../base/coded-error.ts";
export { resolveSocketPath } from "../base/socket-path.ts";
export type { Answer, Choice, Decision, Question, RequestPayload, RequestRow } from "../protocol/requests.ts";
export type { Backoff } from "./backoff.ts";
export { type Client, type ConnectOptions, connect } from "./client.ts";
export { type Connection, type ConnectionHandlers, dial, helloFrame } from "./connection.ts";
export { findSocket } from "./discover.ts";
export type {
  AgentFrame,
  ClientFrame,
  DaemonFrame,
  HelloAck,
  MessageLost,
  Reply,
  RequestFrame,
  ResultFrame,
  SessionFrame,
  UserInput,
  WireFrame,
} from "./frames.ts";
export type {
  Action,
  ActivityState,
  AgentCommand,
  ChangeBody,
  ChangedFile,
  ChangedLine,
  ChangedTurn,
  ChangesRange,
  ChangesReply,
  ChangeView,
  EventsOptions,
  EventsPage,
  EventView,
  FamilyReply,
  FileChangesReply,
  FilterState,
  FollowOptions,
  HealthReply,
  Hunk,
  InputBody,
  InputRecord,
  InputReply,
  InterruptReply,
  PolicyPreview,
  PolicyRule,
  PolicyVerdict,
  PolicyView,
  QueuedMessage,
  QueueReply,
  QuotaBody,
  QuotaReply,
  QuotaWaitView,
  QuotaWindow,
  RequestsReply,
  RespondReply,
  ResumeReply,
  RuleView,
  SearchFilter,
  SearchHit,
  SearchReply,
  SearchRole,
  SessionsFilter,
  SessionView,
  Setting,
  SettingsChange,
  SettingsReply,
  SpawnBody,
  SpawnReply,
  Stats,
  StatsFilter,
  StreamItem,
  ToolStat,
  TranscriptPage,
  TranscriptsFilter,
  TranscriptsReply,
  TranscriptView,
  TurnStat,
  UndoBody,
  UndoneFile,
  UndoReply,
  UsageFilter,
  UsageGroup,
  UsageReply,
  UsageSums,
  WaitOptions,
  WaitReply,
  WaitStat,
  WebLink,
  WorktreeView,
} from "./http/types.ts";
export { HttpClient, type HttpOptions } from "./http.ts";
export type { OpenOptions } from "./port.ts";
export {
  type PendingRequest,
  type RequestsFilter,
  type RequestUpdate,
  type Responded,
  type RespondOptions,
  readRequest,
} from "./requests.ts";
export type { SessionHandle, WatchHandle } from "./session.ts";
export type { StreamEnd } from "./stream.ts";
export type { Turn } from "./turn.ts";
export type { Entry, LinkState, ToolEntry, ToolStatus, View, ViewInput } from "./view/types.ts";
export { applyInputs, changedEntries, type EntryChange, emptyView, type Limits } from "./view.ts";
