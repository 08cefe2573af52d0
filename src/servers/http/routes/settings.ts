// Routes of a session's settings: model, permission mode, effort, and the agent's own commands.
import { SettingsChange, SettingsReply } from "../../../protocol/settings.ts";
import { defineJsonReply, type Route, route } from "../route.ts";

export const SETTING_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/sessions/{id}/settings",
    name: "show_settings",
    summary:
      "What the session is set to, what can be chosen, and the agent's own commands. A running agent says more than one that is not.",
    replies: { 200: defineJsonReply("The settings.", "SettingsReply", SettingsReply) },
    errors: ["session_unknown"],
    handle: async ({ param }, { manager }) => ({ body: await manager.settings(param("id")) }),
  }),
  route({
    method: "patch",
    path: "/sessions/{id}/settings",
    name: "change_settings",
    summary:
      "Changes model, permission mode or effort: of a running agent at once or from its next turn on, and of every later start.",
    body: { name: "SettingsChange", schema: SettingsChange },
    replies: { 200: defineJsonReply("The settings.", "SettingsReply", SettingsReply) },
    errors: ["session_unknown", "setting_refused", "session_busy", "not_allowed", "store_failed"],
    handle: async ({ param, body }, { manager }) => ({ body: await manager.adjust(param("id"), body) }),
  }),
];
