// `agent.system_init`: describes the agent and the session. Emitted at the start, and again when it changes.
import { asObject, asText, defined } from "../../base/values.ts";
import { readConfig, readCurrentMode, readCurrentModel } from "./settings.ts";
import type { AcpReport, AcpState } from "./state.ts";

export function introduce(state: AcpState): AcpReport[] {
  const { backend, cwd, sessionId, settings, agent } = state;
  const info = asObject(agent["agentInfo"]);
  const { modes, models, options } = settings;
  const capabilities = {
    ...defined({
      agent: asText(info["title"]) ?? asText(info["name"]),
      version: asText(info["version"]),
      mode: readCurrentMode(settings),
      modes: modes?.values,
      models: models?.values,
    }),
    ...(options.length > 0 ? { config: readConfig(settings) } : {}),
  };
  const event = {
    type: "agent.system_init" as const,
    backend,
    ...defined({ model: readCurrentModel(settings) }),
    cwd,
    native_session_id: sessionId,
    ...defined({ context_window: state.contextWindow }),
    capabilities,
  };
  const reported = JSON.stringify(event);
  if (reported === state.introduced) return [];
  state.introduced = reported;
  return [{ kind: "event", event }];
}
