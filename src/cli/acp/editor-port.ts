// What sessions need of an editor, in the terms of protocol v1. Each version of the protocol implements it for a connection.
import type {
  AgentContext,
  CreateElicitationRequest,
  RequestPermissionRequest,
  SessionUpdate,
  StopReason,
} from "@agentclientprotocol/sdk";

/** What a session is doing, as an editor shows it. */
export type EditorState =
  | { state: "running" | "requires_action" }
  | { state: "idle"; stopReason?: StopReason | "error"; message?: string };

export interface EditorPort {
  /** The editor gets its own prompts back. */
  readonly repeatsPrompts: boolean;
  /** `seq`: the event that it was made from. Resolves when it is written. */
  update(session_id: string, update: SessionUpdate, seq?: number): Promise<void>;
  state(session_id: string, state: EditorState): Promise<void>;
  /** The editor's response; it is checked by the caller. */
  askPermission(request: RequestPermissionRequest, signal: AbortSignal): Promise<unknown>;
  askForm(request: CreateElicitationRequest, signal: AbortSignal): Promise<unknown>;
}

/** In v1 the response to a prompt says when its turn has ended; there are no states. */
export function createPortV1(client: AgentContext): EditorPort {
  return {
    repeatsPrompts: false,
    update: (sessionId, update) => client.notify("session/update", { sessionId, update }),
    state: async () => undefined,
    askPermission: (request, cancellationSignal) =>
      client.request("session/request_permission", request, {
        cancellationSignal,
        stopWaitingOnCancel: true,
      }),
    askForm: (request, cancellationSignal) =>
      client.request("elicitation/create", request, { cancellationSignal, stopWaitingOnCancel: true }),
  };
}
