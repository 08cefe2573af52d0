// `blemees acp`: an ACP agent on stdin and stdout, for editors. Its sessions are the daemon's: they continue when the editor
// closes, other clients see them, and a restart of the daemon interrupts nothing. Loaded only when needed: the SDK is large.
import type { Readable, Writable } from "node:stream";
import { agent, type InitializeResponse, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { createStreams } from "../../base/acp-streams.ts";
import { asObject } from "../../base/values.ts";
import type { HttpClient } from "../../client/index.ts";
import { EditorSessions } from "./editor-sessions.ts";
import { toRequestError } from "./errors.ts";

export interface ServeOptions {
  http: HttpClient;
  /** The agent of new sessions; by default the first that is installed. */
  agent: string | undefined;
  version: string;
  input: Readable;
  output: Writable;
  signal: AbortSignal;
  warn(message: string): void;
}

/** Resolves when the editor has closed the connection. */
export async function serve(options: ServeOptions): Promise<void> {
  const { http, version, input, output, signal, warn } = options;
  let sessions: EditorSessions | undefined;
  const app = agent({ name: "blemees" })
    .onRequest("initialize", ({ params }) => {
      const { elicitation } = asObject(params.clientCapabilities);
      getSessions().canFill = asObject(elicitation)["form"] !== undefined;
      return describeAgent(version);
    })
    .onRequest("session/new", ({ params }) => run(() => getSessions().create(params)))
    .onRequest("session/load", ({ params: { sessionId, mcpServers } }) =>
      run(() => getSessions().load(sessionId, { isReplayed: true, mcpServers })),
    )
    .onRequest("session/resume", ({ params: { sessionId, mcpServers } }) =>
      run(() => getSessions().load(sessionId, { isReplayed: false, mcpServers })),
    )
    .onRequest("session/list", ({ params }) => run(() => getSessions().list(params)))
    .onRequest("session/prompt", ({ params: { sessionId, prompt } }) =>
      run(() => getSessions().prompt(sessionId, prompt)),
    )
    .onNotification("session/cancel", ({ params }) =>
      getSessions()
        .cancel(params.sessionId)
        .catch((error: unknown) => warn(`cannot cancel: ${toRequestError(error).message}`)),
    )
    .onRequest("session/set_config_option", ({ params: { sessionId, configId, value } }) =>
      run(async () => ({ configOptions: await getSessions().configure(sessionId, configId, value) })),
    )
    .onRequest("session/close", ({ params }) =>
      run(async () => {
        await getSessions().detach(params.sessionId);
        return {};
      }),
    )
    .onRequest("session/delete", ({ params }) =>
      run(async () => {
        await getSessions().remove(params.sessionId);
        return {};
      }),
    );
  const { stream, finish, fault } = createStreams({
    input,
    output,
    onEnd: async () => sessions?.close(),
  });
  const connection = app.connect(stream);
  function getSessions(): EditorSessions {
    sessions ??= new EditorSessions({ http, client: connection.client, agent: options.agent, warn });
    return sessions;
  }
  const stop = (): void => void finish().finally(() => connection.close());
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  await connection.closed;
  signal.removeEventListener("abort", stop);
  await sessions?.close();
  // An open stdin would keep the process alive.
  input.destroy();
  const broken = fault();
  if (broken !== undefined) throw broken;
}

function describeAgent(version: string): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "blemees", title: "blemees", version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: false, sse: false },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
    },
    authMethods: [],
  };
}

/** Maps failures to error codes; the SDK would report all as internal errors. */
async function run<T>(handle: () => Promise<T>): Promise<T> {
  try {
    return await handle();
  } catch (error) {
    throw toRequestError(error);
  }
}
