// The choices of a session: agent (ACP: mode) and provider with model, in the three forms that clients read (modes, models,
// configOptions).
import type {
  SessionConfigOption,
  SessionConfigSelectOption,
  SessionModeState,
} from "@agentclientprotocol/sdk";
import { EFFORTS, type Effort } from "../providers/effort.ts";
import type { DemianSession, Runtime } from "../session-types.ts";
import { authRequiredError, invalidParamsError } from "./errors.ts";

type Available = Pick<Runtime, "agents" | "providers">;
type Chosen = Pick<DemianSession, "agent" | "provider" | "model" | "effort">;

/** Not in the stable schema, but clients use it. */
export interface SessionModelState {
  currentModelId: string;
  availableModels: { modelId: string; name: string; description?: string }[];
}

export interface Choices {
  modes: SessionModeState;
  models: SessionModelState;
  configOptions: SessionConfigOption[];
}

export const MODE_OPTION = "mode";
export const MODEL_OPTION = "model";
export const EFFORT_OPTION = "effort";
/** Shown until an effort is set. */
const DEFAULT_EFFORT = "default";

export function listChoices(runtime: Available, chosen: Chosen): Choices {
  const modes = listModes(runtime, chosen);
  const models = listModels(runtime, chosen);
  const modeOptions = modes.availableModes.map(
    ({ id, name, description }): SessionConfigSelectOption => ({
      value: id,
      name,
      ...(description ? { description } : {}),
    }),
  );
  const modelOptions = models.availableModels.map(
    ({ modelId, name, description }): SessionConfigSelectOption => ({
      value: modelId,
      name,
      ...(description ? { description } : {}),
    }),
  );
  return {
    modes,
    models,
    configOptions: [
      {
        id: MODE_OPTION,
        name: "Agent",
        category: "mode",
        type: "select",
        currentValue: modes.currentModeId,
        options: modeOptions,
      },
      {
        id: MODEL_OPTION,
        name: "Model",
        category: "model",
        type: "select",
        currentValue: models.currentModelId,
        options: modelOptions,
      },
      listEfforts(chosen),
    ],
  };
}

/** Throws -32602. Unlisted models are accepted: a provider has more than the configured one. */
export function parseModelId({ providers }: Available, modelId: string): { provider: string; model: string } {
  const slash = modelId.indexOf("/");
  const key = slash < 0 ? modelId : modelId.slice(0, slash);
  const choice = providers.find((one) => one.key === key);
  const model = slash < 0 ? choice?.model : modelId.slice(slash + 1);
  if (choice === undefined || model === undefined || model === "") {
    const known = providers.map((one) => `${one.key}/${one.model}`).join(", ");
    throw invalidParamsError(`no model "${modelId}"; use provider/model, for example: ${known}`);
  }
  if (!choice.isReady) {
    throw authRequiredError(choice.problem ?? `the provider ${key} is not ready`);
  }
  return { provider: key, model };
}

/** Throws -32602. */
export function parseEffort(value: string): { effort?: Effort } {
  if (value === DEFAULT_EFFORT) return {};
  const effort = EFFORTS.find((level) => level === value);
  if (effort === undefined)
    throw invalidParamsError(`no effort "${value}"; there are: ${EFFORTS.join(", ")}`);
  return { effort };
}

function listEfforts({ effort }: Chosen): SessionConfigOption {
  const levels = effort === undefined ? [DEFAULT_EFFORT, ...EFFORTS] : EFFORTS;
  return {
    id: EFFORT_OPTION,
    name: "Effort",
    category: "thought_level",
    type: "select",
    currentValue: effort ?? DEFAULT_EFFORT,
    options: levels.map((value) => ({ value, name: value })),
  };
}

function listModes({ agents }: Available, { agent }: Chosen): SessionModeState {
  return {
    currentModeId: agent,
    availableModes: agents.listPrimary().map(({ name, displayName, description }) => ({
      id: name,
      name: displayName ?? name,
      description,
    })),
  };
}

function listModels({ providers }: Available, { provider, model }: Chosen): SessionModelState {
  const currentModelId = `${provider}/${model}`;
  const ready = providers
    .filter(({ isReady }) => isReady)
    .map(({ key, model: name }) => ({ modelId: `${key}/${name}`, name: `${name} (${key})` }));
  const isListed = ready.some(({ modelId }) => modelId === currentModelId);
  const current = { modelId: currentModelId, name: `${model} (${provider})` };
  return { currentModelId, availableModels: isListed ? ready : [current, ...ready] };
}
