// Performs effects: calls the driver and reports the outcome to the screen as events.
import { toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { App } from "../screen-types.ts";
import type { SessionDriver } from "../types.ts";
import type { Effect, UiEvent } from "./ui-types.ts";

export interface EffectContext {
  driver: SessionDriver;
  app: App;
  dispatch(event: UiEvent): void;
  openChanges(): void;
}

export async function runEffect(
  effect: Effect,
  { driver, app, dispatch, openChanges }: EffectContext,
): Promise<void> {
  const tell = (text: string, level: "info" | "error" = "error"): void =>
    dispatch({ kind: "report", level, text, at_ms: Date.now() });
  try {
    switch (effect.kind) {
      case "send": {
        const note = await driver.send(effect.text, effect.how);
        return note === undefined ? undefined : tell(note, "info");
      }
      case "interrupt":
        return await driver.interrupt();
      case "respond":
        return await driver.respond(effect.row, effect.answer);
      case "whole":
        return dispatch({ kind: "whole", row: await driver.wholeRequest(effect.row) });
      case "cancel_queued":
        await driver.cancelQueued(effect.message_id);
        return dispatch({ kind: "cancelled", text: effect.text, at_ms: Date.now() });
      case "earlier":
        return dispatch({
          kind: "earlier",
          isMore: await driver.loadEarlier(effect.kept_from),
          at_ms: Date.now(),
        });
      case "find_files": {
        const { files = [], reason } = (await driver.findFiles?.(effect.query)) ?? {};
        return dispatch({ kind: "files", query: effect.query, files, ...defined({ message: reason }) });
      }
      case "attach": {
        const label = await driver.attach?.(effect.path);
        return label === undefined ? undefined : dispatch({ kind: "attached", label });
      }
      case "load_commands":
        return dispatch({ kind: "agent_commands", commands: (await driver.agentCommands?.()) ?? [] });
      case "command":
        return await driver.commands.find(({ name }) => name === effect.name)?.run(effect.rest);
      case "load_picker": {
        const options = await driver.pickers.find(({ key }) => key === effect.key)?.load();
        return dispatch({ kind: "picker", key: effect.key, options: options ?? [] });
      }
      case "choose": {
        const picker = driver.pickers.find(({ key }) => key === effect.key);
        await picker?.choose(effect.value);
        const isCommand = picker?.key.startsWith("/") === true;
        return tell(isCommand ? `${picker.title}: ${effect.label}` : effect.label, "info");
      }
      case "back":
        return app.back();
      case "leave":
        return app.leave(effect.code);
      case "suspend":
        return app.suspend();
      case "repaint":
        return app.repaint();
      case "changes":
        return openChanges();
      case "mouse":
        return tell(
          app.turnMouse() ? "the wheel scrolls" : "the mouse selects text; Alt-M switches back",
          "info",
        );
    }
  } catch (error) {
    onFailure(effect, toMessage(error), dispatch);
  }
}

function onFailure(effect: Effect, message: string, dispatch: (event: UiEvent) => void): void {
  const at_ms = Date.now();
  if (effect.kind === "send") {
    dispatch({ kind: "send_failed", text: effect.text, message, at_ms });
  } else if (effect.kind === "respond") {
    dispatch({ kind: "respond_failed", request_id: effect.row.request_id, message, at_ms });
  } else if (effect.kind === "attach" && effect.path !== undefined) {
    dispatch({ kind: "not_attached", text: effect.path });
  } else if (effect.kind === "load_commands") {
    // Our own commands are listed without them.
  } else if (effect.kind === "find_files") {
    dispatch({ kind: "files", query: effect.query, files: [], message });
  } else if (effect.kind === "load_picker") {
    dispatch({ kind: "picker", key: effect.key, options: [], message });
  } else {
    if (effect.kind === "earlier") dispatch({ kind: "earlier", isMore: true, at_ms });
    dispatch({ kind: "report", level: "error", text: message, at_ms });
  }
}
