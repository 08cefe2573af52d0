// What a client may choose in a session: the agent (ACP: mode) and the provider with its model. Clients read it in three
// shapes (modes, models, configOptions); all three are made here.
import type {
  SessionConfigOption,
  SessionConfigSelectOption,
  SessionModeState,
} from "@agentclientprotocol/sdk";
import type { DemianSession, Runtime } from "../session-types.ts";
import { authRequired, invalidParams } from "./errors.ts";

type Available = Pick<Runtime, "agents" | "providers">;
type Chosen = Pick<DemianSession, "agent" | "provider" | "model">;

/** Not in the stable schema, but read by clients. */
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

export function choicesOf(runtime: Available, chosen: Chosen): Choices {
  const modes = modesOf(runtime, chosen);
  const models = modelsOf(runtime, chosen);
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
    ],
  };
}

/** Throws -32602. A model that is not listed is taken at its word: a provider has more models than the configured one. */
export function modelChange({ providers }: Available, modelId: string): { provider: string; model: string } {
  const slash = modelId.indexOf("/");
  const key = slash < 0 ? modelId : modelId.slice(0, slash);
  const choice = providers.find((one) => one.key === key);
  const model = slash < 0 ? choice?.model : modelId.slice(slash + 1);
  if (choice === undefined || model === undefined || model === "") {
    const known = providers.map((one) => `${one.key}/${one.model}`).join(", ");
    throw invalidParams(`no model is called "${modelId}"; say provider/model, as in: ${known}`);
  }
  if (!choice.isReady) {
    throw authRequired(choice.problem ?? `the provider ${key} is not ready`);
  }
  return { provider: key, model };
}

function modesOf({ agents }: Available, { agent }: Chosen): SessionModeState {
  return {
    currentModeId: agent,
    availableModes: agents.primary().map(({ name, displayName, description }) => ({
      id: name,
      name: displayName ?? name,
      description,
    })),
  };
}

function modelsOf({ providers }: Available, { provider, model }: Chosen): SessionModelState {
  const currentModelId = `${provider}/${model}`;
  const ready = providers
    .filter(({ isReady }) => isReady)
    .map(({ key, model: name }) => ({ modelId: `${key}/${name}`, name: `${name} (${key})` }));
  const isListed = ready.some(({ modelId }) => modelId === currentModelId);
  const current = { modelId: currentModelId, name: `${model} (${provider})` };
  return { currentModelId, availableModels: isListed ? ready : [current, ...ready] };
}
