// The door of observability.
export { noObserver } from "./none.ts";
export { createObserver, type ObserverOptions } from "./observer.ts";
export type { Retention } from "./rows.ts";
export type { Observer, RowsFilter, ToolEvent, TurnEvent } from "./types.ts";
