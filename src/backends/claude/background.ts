// Sub-agents that work behind the turn. Claude (2.1.325 by default, 2.1.197 when asked to) starts them and ends its turn;
// when one is done Claude begins a turn by itself, or takes the news into the turn that runs. Until then it is busy.
// Background commands do not count: they may be servers, and nobody waits for their end.
import { isObject, type JsonObject } from "../../base/json.ts";
import { type ClaudeState, stringOf } from "./state.ts";

/** What this frame says about sub-agents that work behind the turn. */
export function followBackground(state: ClaudeState, frame: JsonObject): void {
  if (frame["type"] === "user") seeLaunch(state, frame["tool_use_result"]);
  if (frame["type"] !== "system") return;
  const id = stringOf(frame["task_id"]);
  switch (frame["subtype"]) {
    case "task_started":
      // A command or a sub-agent in the foreground has one too: the turn waits for that.
      if (frame["task_type"] === "local_agent" && frame["is_backgrounded"] === true) launch(state, id);
      return;
    case "task_notification":
      if (id === undefined) return;
      // No turn tells of one that was stopped (2.1.197, 2.1.325).
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

/** The result of the tool call that started it; 2.1.197 says it nowhere else. */
function seeLaunch(state: ClaudeState, result: unknown): void {
  if (isObject(result) && result["isAsync"] === true) launch(state, stringOf(result["agentId"]));
}

/** All that still run: whichever is missing has ended. */
function seeList(state: ClaudeState, tasks: unknown): void {
  if (!Array.isArray(tasks)) return;
  const ids = new Set(tasks.map((task) => (isObject(task) ? task["task_id"] : undefined)));
  for (const id of state.background.keys()) if (!ids.has(id)) finish(state, id);
}

function launch(state: ClaudeState, id: string | undefined): void {
  if (id !== undefined && !state.background.has(id)) state.background.set(id, "works");
}

/** The turn that tells of it is still to come. Without state events nobody would say that it does not. */
function finish(state: ClaudeState, id: string): void {
  if (!state.background.has(id)) return;
  if (state.hasStateEvents) state.background.set(id, "done");
  else state.background.delete(id);
}

function forgetFinished(state: ClaudeState): void {
  for (const [id, status] of state.background) if (status === "done") state.background.delete(id);
}
