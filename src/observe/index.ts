// The public interface of observability.
export { noObserver } from "./none.ts";
export { createObserver, type ObserverOptions } from "./observer.ts";
export type { Retention } from "./rows.ts";
export type { ObservedStats, Observer, RowsFilter, StatsQuery, ToolEvent, TurnEvent } from "./types.ts";
