// The public interface of observability.
export { noObserver } from "./none.ts";
export { createObserver, type ObserverOptions } from "./observer.ts";
export type { Retention } from "./rows.ts";
export { isSearched, readFrameText } from "./search/frame-text.ts";
export { parseQuery, toPattern } from "./search/query.ts";
export { type Snippet, toSnippet } from "./search/snippet.ts";
export type {
  Candidate,
  History,
  SearchPlace,
  TranscriptIndex,
  TranscriptPosition,
  TranscriptText,
} from "./search/types.ts";
export type {
  ObservedStats,
  Observer,
  RowsFilter,
  StatsQuery,
  ToolEvent,
  TurnEvent,
  UsageQuery,
} from "./types.ts";
export { addSums, createSums, findProject, mergeSlices, readTokens, type UsageSlice } from "./usage.ts";
