// `blemees acp`: an ACP agent on stdin and stdout, for editors. Its sessions are the daemon's: they continue when the editor
// closes, other clients see them, and a restart of the daemon interrupts nothing. Loaded only when needed: the SDK is large.
import type { Readable, Writable } from "node:stream";
import { type AgentApp, agent, type InitializeResponse, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { agentProtocolRouter } from "@agentclientprotocol/sdk/experimental/v2";
import { createStreams } from "../../base/acp-streams.ts";
import { asObject } from "../../base/values.ts";
import type { HttpClient } from "../../client/index.ts";
import { createPortV1, type EditorPort } from "./editor-port.ts";
import { EditorSessions } from "./editor-sessions.ts";
import { invalidParamsError, toRequestError } from "./errors.ts";
import { createAgentV2 } from "./v2/agent.ts";

export interface ServeOptions {
  http: HttpClient;
  /** The agent of new sessions; by default the first that is installed. */
  agent: string | undefined;
  /** Also speak the draft v2 of the protocol, with editors that want it. */
  speaksV2: boolean;
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
  const open = (port: EditorPort): EditorSessions => {
    sessions = new EditorSessions({ http, port, agent: options.agent, warn });
    return sessions;
  };
  const { stream, finish, fault } = createStreams({
    input,
    output,
    onEnd: async () => sessions?.close(),
  });
  const router = agentProtocolRouter().withV1(createAgentV1({ version, open, warn }));
  if (options.speaksV2) router.withV2(createAgentV2({ version, open, run, warn }));
  const connection = router.connect(stream);
  // The connection ends with its input.
  const stop = (): void => void finish().finally(() => input.destroy());
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

interface AgentV1Parts {
  version: string;
  /** Called with the first message of the connection. */
  open(port: EditorPort): EditorSessions;
  warn(message: string): void;
}

function createAgentV1({ version, open, warn }: AgentV1Parts): AgentApp {
  let sessions: EditorSessions | undefined;
  const get = (): EditorSessions => {
    if (sessions === undefined) throw invalidParamsError("send initialize first");
    return sessions;
  };
  return agent({ name: "blemees" })
    .onConnect(({ client }) => {
      sessions = open(createPortV1(client));
    })
    .onRequest("initialize", ({ params }) => {
      const { elicitation } = asObject(params.clientCapabilities);
      get().canFill = asObject(elicitation)["form"] !== undefined;
      return describeAgent(version);
    })
    .onRequest("session/new", ({ params }) => run(() => get().create(params)))
    .onRequest("session/load", ({ params: { sessionId, mcpServers } }) =>
      run(() => get().load(sessionId, { isReplayed: true, mcpServers })),
    )
    .onRequest("session/resume", ({ params: { sessionId, mcpServers } }) =>
      run(() => get().load(sessionId, { isReplayed: false, mcpServers })),
    )
    .onRequest("session/list", ({ params }) => run(() => get().list(params)))
    .onRequest("session/prompt", ({ params: { sessionId, prompt } }) =>
      run(async () => (await get().prompt(sessionId, prompt)).ended),
    )
    .onNotification("session/cancel", ({ params }) =>
      get()
        .cancel(params.sessionId)
        .catch((error: unknown) => warn(`cannot cancel: ${toRequestError(error).message}`)),
    )
    .onRequest("session/set_config_option", ({ params: { sessionId, configId, value } }) =>
      run(async () => ({ configOptions: await get().configure(sessionId, configId, value) })),
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
