// All sessions as a screen lists them: a tree, those that wait for a person first. Pure; shared by terminal and browser.
import type { RequestRow } from "../../protocol/requests.ts";
import type { ChangeView, SessionView } from "../../protocol/views.ts";
import type { LinkState } from "./types.ts";

/** `sessions` and `requests` are everything there is; a change is the difference. */
export type FleetInput =
  | { kind: "sessions"; sessions: readonly SessionView[] }
  | { kind: "requests"; requests: readonly RequestRow[] }
  | { kind: "change"; change: ChangeView }
  | { kind: "link"; state: LinkState; message?: string };

export interface Fleet {
  sessions: ReadonlyMap<string, SessionView>;
  /** What waits for an answer, oldest first, by its id. */
  requests: ReadonlyMap<string, RequestRow>;
  link: { state: LinkState; message?: string };
}

/** A row of the list: a session and how deep in its family it stands. */
export interface FleetRow {
  session: SessionView;
  depth: number;
  /** It or one below it waits for a person. */
  isWaiting: boolean;
}
