// Background sub-agents. Claude (2.1.325 by default, 2.1.197 on request) starts them and ends its turn; when one is done,
// Claude starts a turn itself or mentions it in the current turn. Until then it is busy. Background commands do not
// count: they may be servers, which never end.

import { isObject, type JsonObject } from "../../base/json.ts";
import { asString } from "../../base/values.ts";
import type { ClaudeState } from "./state.ts";

/** Updates the background sub-agents from a frame. */
export function followBackground(state: ClaudeState, frame: JsonObject): void {
  if (frame["type"] === "user") seeLaunch(state, frame["tool_use_result"]);
  if (frame["type"] !== "system") return;
  const id = asString(frame["task_id"]);
  switch (frame["subtype"]) {
    case "task_started":
      // Commands and foreground sub-agents have one too, but the turn waits for those.
      if (frame["task_type"] === "local_agent" && frame["is_backgrounded"] === true) launch(state, id);
      return;
    case "task_notification":
      if (id === undefined) return;
      // No turn follows for a stopped one (2.1.197, 2.1.325).
      if (frame["status"] === "stopped") state.background.delete(id);
      else finish(state, id);
      return;
    case "background_tasks_changed":
      seeList(state, frame["tasks"]);
      return;
    case "init":
      forgetFinished(state);
      return;
    case "session_state_changed":
      if (frame["state"] === "idle") forgetFinished(state);
  }
}

export function isBusy(state: ClaudeState): boolean {
  return state.background.size > 0;
}

/** The result of the tool call that started it, the only sign in 2.1.197. */
function seeLaunch(state: ClaudeState, result: unknown): void {
  if (isObject(result) && result["isAsync"] === true) launch(state, asString(result["agentId"]));
}

/** The list of running tasks: a task that is missing has ended. */
function seeList(state: ClaudeState, tasks: unknown): void {
  if (!Array.isArray(tasks)) return;
  const ids = new Set(tasks.map((task) => (isObject(task) ? task["task_id"] : undefined)));
  for (const id of state.background.keys()) if (!ids.has(id)) finish(state, id);
}

function launch(state: ClaudeState, id: string | undefined): void {
  if (id !== undefined && !state.background.has(id)) state.background.set(id, "works");
}

/** The turn that mentions it is still to come. Without state events nothing would show that it never comes. */
function finish(state: ClaudeState, id: string): void {
  if (!state.background.has(id)) return;
  if (state.hasStateEvents) state.background.set(id, "done");
  else state.background.delete(id);
}

function forgetFinished(state: ClaudeState): void {
  for (const [id, status] of state.background) if (status === "done") state.background.delete(id);
}
