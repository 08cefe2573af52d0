// Callbacks for session events. Called synchronously, before anything is stored, so that changes to the row are stored
// with the event.
import type { ResultEvent } from "../protocol/events.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { Session } from "./session.ts";

export interface SessionHooks {
  /** Whether `onTurnStart` has something to do for its next turn, as far as is known. */
  preparesTurns(row: SessionRow): boolean;
  /** A turn begins. The agent gets its message when the promise resolves; undefined: at once. Never rejects. */
  onTurnStart(row: SessionRow, turn_id: string): Promise<void> | undefined;
  /** A turn has its result. `goesOn`: more is queued, or the agent continues in the background. */
  onTurnEnd(row: SessionRow, result: ResultEvent, goesOn: boolean): void;
  /** A queued message that could not be delivered, so no turn will report it. The caller stores the row. */
  onInputFailed(row: SessionRow, message_id: string, error: { code: string; message: string }): void;
  /** The agent has asked something, and the request is stored. */
  onRequest(row: SessionRow, request: RequestRow): void;
  /** The session and its stored data were deleted. `by`: the session whose agent did it. */
  onRemoved(row: SessionRow, isAtWork: boolean, by?: string): void;
  /** A session is in memory now. */
  onLoaded(session: Session): void;
  /** It no longer is. `isForgotten`: nor in the store. */
  onUnloaded(row: SessionRow, isForgotten: boolean): void;
  /** Something that views show has changed: state, name, queue, requests, row. */
  onChange(session_id: string): void;
}

export const noHooks: SessionHooks = {
  preparesTurns: () => false,
  onTurnStart: () => undefined,
  onTurnEnd: () => undefined,
  onInputFailed: () => undefined,
  onRequest: () => undefined,
  onRemoved: () => undefined,
  onLoaded: () => undefined,
  onUnloaded: () => undefined,
  onChange: () => undefined,
};
