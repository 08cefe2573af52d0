// `agent.system_init`: what the agent and the session are. Told at the start, and again when something in it changed.
import { objectOf, optional, textOf } from "../values.ts";
import { configOf, currentMode, currentModel } from "./settings.ts";
import type { AcpState, Report } from "./state.ts";

export function introduce(state: AcpState): Report[] {
  const { backend, cwd, sessionId, settings, agent } = state;
  const info = objectOf(agent["agentInfo"]);
  const { modes, models, options } = settings;
  const capabilities = {
    ...optional("agent", textOf(info["title"]) ?? textOf(info["name"])),
    ...optional("version", textOf(info["version"])),
    ...optional("mode", currentMode(settings)),
    ...optional("modes", modes?.values),
    ...optional("models", models?.values),
    ...(options.length > 0 ? { config: configOf(settings) } : {}),
  };
  const event = {
    type: "agent.system_init" as const,
    backend,
    ...optional("model", currentModel(settings)),
    cwd,
    native_session_id: sessionId,
    ...optional("context_window", state.contextWindow),
    capabilities,
  };
  const told = JSON.stringify(event);
  if (told === state.introduced) return [];
  state.introduced = told;
  return [{ kind: "event", event }];
}
