// The draft v2 of the protocol: a prompt is acknowledged when the agent has it, the state of a session is an update, and a
// session is resumed with or without its history. Only with `blemees acp --v2`: the draft changes with every release.
import {
  type AgentApp,
  type AgentContext,
  agent,
  PROTOCOL_VERSION,
} from "@agentclientprotocol/sdk/experimental/v2";
import { asObject } from "../../../base/values.ts";
import type { EditorPort } from "../editor-port.ts";
import type { EditorSessions } from "../editor-sessions.ts";
import { invalidParamsError, toRequestError } from "../errors.ts";
import { type OpenText, toConfigOptionV2, toPermissionV2, toStateV2, toUpdateV2 } from "./to-v2.ts";

export interface AgentV2Parts {
  version: string;
  /** Called with the first message of the connection. */
  open(port: EditorPort): EditorSessions;
  run<T>(handle: () => Promise<T>): Promise<T>;
  warn(message: string): void;
}

export function createAgentV2({ version, open, run, warn }: AgentV2Parts): AgentApp {
  let sessions: EditorSessions | undefined;
  const get = (): EditorSessions => {
    if (sessions === undefined) throw invalidParamsError("send initialize first");
    return sessions;
  };
  return agent({ name: "blemees" })
    .onConnect(({ client }) => {
      sessions = open(createPortV2(client));
    })
    .onRequest("initialize", ({ params }) => {
      const { elicitation } = asObject(params.capabilities);
      get().canFill = asObject(elicitation)["form"] != null;
      return {
        protocolVersion: PROTOCOL_VERSION,
        info: { name: "blemees", title: "blemees", version },
        capabilities: { session: { prompt: { image: {}, embeddedContext: {} }, delete: {} } },
      };
    })
    .onRequest("session/new", ({ params }) =>
      run(async () => {
        const { sessionId, configOptions } = await get().create(params);
        return { sessionId, configOptions: configOptions?.flatMap(toConfigOptionV2) ?? [] };
      }),
    )
    .onRequest("session/resume", ({ params: { sessionId, replayFrom, mcpServers } }) =>
      run(async () => {
        if (replayFrom != null && replayFrom.type !== "start")
          throw invalidParamsError(
            `replayFrom "${replayFrom.type}" is not supported: use "start", or leave it out`,
          );
        const { configOptions } = await get().load(sessionId, { isReplayed: replayFrom != null, mcpServers });
        return { configOptions: configOptions.flatMap(toConfigOptionV2) };
      }),
    )
    .onRequest("session/list", ({ params }) => run(() => get().list(params)))
    .onRequest("session/prompt", ({ params: { sessionId, prompt } }) =>
      run(async () => {
        const blocks = prompt as Parameters<EditorSessions["prompt"]>[1];
        const { delivered } = await get().prompt(sessionId, blocks);
        return { messageId: await delivered };
      }),
    )
    .onNotification("session/cancel", ({ params }) =>
      get()
        .cancel(params.sessionId)
        .catch((error: unknown) => warn(`cannot cancel: ${toRequestError(error).message}`)),
    )
    .onRequest("session/set_config_option", ({ params: { sessionId, configId, value } }) =>
      run(async () => ({
        configOptions: (await get().configure(sessionId, configId, value)).flatMap(toConfigOptionV2),
      })),
    )
    .onRequest("session/close", ({ params }) =>
      run(async () => {
        await get().detach(params.sessionId);
        return {};
      }),
    )
    .onRequest("session/delete", ({ params }) =>
      run(async () => {
        await get().remove(params.sessionId);
        return {};
      }),
    );
}

function createPortV2(client: AgentContext): EditorPort {
  const texts = new Map<string, OpenText>();
  const openText = (session_id: string): OpenText => {
    const open = texts.get(session_id) ?? {};
    texts.set(session_id, open);
    return open;
  };
  return {
    repeatsPrompts: true,
    async update(sessionId, update, seq) {
      for (const one of toUpdateV2(openText(sessionId), update, seq))
        await client.notify("session/update", { sessionId, update: one });
    },
    state: (sessionId, state) => client.notify("session/update", { sessionId, update: toStateV2(state) }),
    askPermission: (request, cancellationSignal) =>
      client.request("session/request_permission", toPermissionV2(request), {
        cancellationSignal,
        stopWaitingOnCancel: true,
      }),
    askForm: (request, cancellationSignal) =>
      client.request("elicitation/create", request as never, {
        cancellationSignal,
        stopWaitingOnCancel: true,
      }),
  };
}
