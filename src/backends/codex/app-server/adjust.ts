// Model, mode and effort of a Codex session: the options that keep them, and the parameters of turn/start that set them in
// a loaded thread, from its next turn on (0.166). Codex has no modes of its own: a mode is a sandbox with a policy, as in
// its own list of presets.

import { CodedError } from "../../../base/coded-error.ts";
import type { JsonObject } from "../../../base/json.ts";
import { asObject, asObjects, asText, defined } from "../../../base/values.ts";
import type { Offers, Setting, SettingsChange } from "../../../protocol/settings.ts";
import type { BackendSettings } from "../../types.ts";
import type { CodexOptions } from "../options.ts";
import type { ThreadRunParts } from "./keep.ts";
import { toTurnParams } from "./params.ts";

type Preset = Pick<CodexOptions, "sandbox" | "approval-policy" | "collaboration_mode">;

const MODES: Readonly<Record<string, { options: Preset; description: string }>> = {
  "read-only": {
    options: { sandbox: "read-only", "approval-policy": "on-request", collaboration_mode: "default" },
    description: "reads; asks before it changes anything",
  },
  auto: {
    options: { sandbox: "workspace-write", "approval-policy": "on-request", collaboration_mode: "default" },
    description: "works in its directory; asks before anything else",
  },
  "full-access": {
    options: { sandbox: "danger-full-access", "approval-policy": "never", collaboration_mode: "default" },
    description: "everything, without asking",
  },
  plan: {
    options: { sandbox: "read-only", "approval-policy": "on-request", collaboration_mode: "plan" },
    description: "reads and plans, may ask questions, changes nothing",
  },
};
const OFFER_LIMIT_MS = 2_000;
const EFFORTS = ["minimal", "low", "medium", "high", "xhigh"];

const POLICIES: Readonly<Record<NonNullable<CodexOptions["sandbox"]>, JsonObject>> = {
  "read-only": { type: "readOnly", networkAccess: false },
  "workspace-write": {
    type: "workspaceWrite",
    writableRoots: [],
    networkAccess: false,
    excludeTmpdirEnvVar: false,
    excludeSlashTmp: false,
  },
  "danger-full-access": { type: "dangerFullAccess" },
};

/** `check`: as for the options of a new session. */
export function createCodexSettings(
  check: (block: Record<string, unknown>) => Record<string, unknown>,
): BackendSettings {
  return {
    change(options, { model, permission_mode, effort }) {
      const mode = permission_mode === undefined ? undefined : MODES[permission_mode];
      if (permission_mode !== undefined && mode === undefined)
        throw new CodedError(
          "invalid_message",
          `/permission_mode: no mode "${permission_mode}"; the agent offers ${Object.keys(MODES).join(", ")}`,
        );
      return check({ ...options, ...defined({ model, effort }), ...mode?.options });
    },
    list: (options) => ({
      model: { values: [], ...defined({ current: asText(options["model"]) }) },
      permission_mode: listModes(options),
      effort: {
        values: EFFORTS.map((value) => ({ value })),
        ...defined({ current: asText(options["effort"]) }),
      },
    }),
  };
}

function listModes(options: CodexOptions): Setting {
  const isIts = ([, { options: preset }]: [string, { options: Preset }]) =>
    preset.sandbox === options.sandbox &&
    preset["approval-policy"] === options["approval-policy"] &&
    preset.collaboration_mode === (options.collaboration_mode ?? "default");
  const current = Object.entries(MODES).find(isIts)?.[0];
  const values = Object.entries(MODES).map(([value, { description }]) => ({ value, description }));
  return { values, ...defined({ current }) };
}

/** From its next turn on. */
export function adjustThread(
  { turnParams, state }: Pick<ThreadRunParts, "turnParams" | "state">,
  change: SettingsChange,
  options: CodexOptions,
): void {
  // In place: the snapshot has it too.
  Object.assign(turnParams, toChangedTurnParams(options, change, asText(state.intro["model"])));
}

export async function readOffers({ lease, state }: Pick<ThreadRunParts, "lease" | "state">): Promise<Offers> {
  const reply = await lease.server.request("model/list", {}, OFFER_LIMIT_MS).catch(() => undefined);
  return toCodexOffers(reply, asText(state.intro["model"]));
}

/** The parameters of every later turn. Only what is changed: the rest is the thread's, or the user's configuration. */
function toChangedTurnParams(
  options: CodexOptions,
  { model, permission_mode }: SettingsChange,
  threadModel: string | undefined,
): JsonObject {
  const { sandbox } = options;
  return {
    ...toTurnParams(options, threadModel),
    ...defined({ model }),
    ...(permission_mode === undefined || sandbox === undefined
      ? {}
      : { approvalPolicy: options["approval-policy"], sandboxPolicy: POLICIES[sandbox] }),
  };
}

/** The reply to model/list. */
function toCodexOffers(reply: unknown, model: string | undefined): Offers {
  const models = asObjects(asObject(reply)["data"]).filter(({ hidden }) => hidden !== true);
  if (models.length === 0) return {};
  const values = models.flatMap((one) => {
    const value = asText(one["model"]) ?? asText(one["id"]);
    const text = { name: asText(one["displayName"]), description: asText(one["description"]) };
    return value === undefined ? [] : [{ value, ...defined(text) }];
  });
  const current = models.find((one) => one["model"] === model || one["id"] === model);
  const efforts = asObjects(current?.["supportedReasoningEfforts"]).flatMap((one) => {
    const value = asText(one["reasoningEffort"]);
    return value === undefined ? [] : [{ value, ...defined({ description: asText(one["description"]) }) }];
  });
  return {
    model: { values, ...defined({ current: model }) },
    ...(efforts.length === 0 ? {} : { effort: { values: efforts } }),
  };
}
