// The table of ACP methods, and the lifetime of a connection. Loaded only by `demian acp`, because the SDK is large.

import { resolve } from "node:path";
import {
  type AgentApp,
  agent,
  type ContentBlock,
  type InitializeResponse,
  PROTOCOL_VERSION,
  type SetSessionConfigOptionRequest,
} from "@agentclientprotocol/sdk";
import { createStreams } from "../../base/acp-streams.ts";
import { waitAtMost } from "../../base/child.ts";
import { isObject } from "../../base/json.ts";
import { defined } from "../../base/values.ts";
import { SessionStore } from "../conversations/store.ts";
import { EFFORT_OPTION, MODE_OPTION, MODEL_OPTION, parseEffort, parseModelId } from "./choices.ts";
import { invalidParamsError, toRequestError } from "./errors.ts";
import { EVENT, NOTICE, STEER } from "./extensions.ts";
import { AcpHost } from "./host.ts";
import type { AcpOptions } from "./options.ts";
import { type CreateRuntime, Runtimes } from "./runtimes.ts";
import type { AcpSession } from "./session.ts";

const SHUTDOWN_LIMIT_MS = 5000;

export async function serve(options: AcpOptions): Promise<void> {
  const { flags, env, version } = options;
  const create = options.createRuntime ?? loadRuntime;
  const runtimes = new Runtimes(create, {
    env,
    ...(flags.config !== undefined && { configPath: resolve(flags.config) }),
    ...(flags.settings !== undefined && { flags: flags.settings }),
  });
  const host = new AcpHost({
    store: new SessionStore(env),
    runtimes,
    defaults: toSessionDefaults(flags),
    warn: (message) => options.warn?.(message),
  });
  let ended: Promise<void> | undefined;
  const end = () => {
    ended ??= waitAtMost(SHUTDOWN_LIMIT_MS, host.shutdown());
    return ended;
  };
  const app = agent({ name: "demian" });
  const isOurs = options.createRuntime === undefined;
  register(app, host, version, isOurs ? () => void preload() : () => undefined);
  const { stream, finish, fault } = createStreams({
    input: options.input,
    output: options.output,
    onEnd: end,
  });
  const connection = app.connect(stream);
  const stop = () => {
    void finish().finally(() => connection.close());
  };
  if (options.signal?.aborted) stop();
  options.signal?.addEventListener("abort", stop, { once: true });
  await connection.closed;
  options.signal?.removeEventListener("abort", stop);
  await end();
  // An open stdin would keep the process alive.
  options.input.destroy();
  const broken = fault();
  if (broken !== undefined) throw broken;
}

/** Handlers start in the order of their messages (streams.ts). */
function register(app: AgentApp, host: AcpHost, version: string, preloadRuntime: () => void): void {
  app
    .onRequest("initialize", ({ params }) => {
      host.setCapabilities(params.clientCapabilities ?? {});
      setImmediate(preloadRuntime);
      return buildInitializeResponse(version);
    })
    .onRequest("session/new", ({ params, client }) => run(() => host.create(params, client)))
    .onRequest("session/load", ({ params, client }) =>
      run(() => host.load(params.sessionId, params, client, true)),
    )
    .onRequest("session/resume", ({ params, client }) =>
      run(() => host.load(params.sessionId, params, client, false)),
    )
    .onRequest("session/list", ({ params }) => run(() => host.list(params)))
    .onRequest("session/close", ({ params }) => run(() => host.close(params.sessionId)))
    .onRequest("session/delete", ({ params }) => run(() => host.remove(params.sessionId)))
    .onRequest("session/prompt", ({ params, signal }) =>
      run(() => host.get(params.sessionId).prompt(params.prompt, signal)),
    )
    .onRequest(STEER, readSteerParams, ({ params }) =>
      run(() => host.get(params.sessionId).steer(params.prompt)),
    )
    .onNotification("session/cancel", ({ params }) => host.find(params.sessionId)?.cancel())
    .onRequest("session/set_mode", ({ params }) =>
      run(async () => {
        await host.get(params.sessionId).change({ agent: params.modeId });
        return {};
      }),
    )
    .onRequest("session/set_model", readSetModelParams, ({ params }) =>
      run(async () => {
        const session = host.get(params.sessionId);
        await session.change(parseModelId(session.runtime, params.modelId));
        return {};
      }),
    )
    .onRequest("session/set_config_option", ({ params }) =>
      run(async () => {
        const session = host.get(params.sessionId);
        await session.change(readConfigChange(session, params));
        return { configOptions: session.choices().configOptions };
      }),
    );
}

function buildInitializeResponse(version: string): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "demian", title: "demian", version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      _meta: { demian: { events: EVENT, notices: NOTICE, steer: STEER, setModel: true } },
    },
    authMethods: [],
  };
}

/** Maps failures to error codes; the SDK would report all as internal errors. */
async function run<T>(handle: () => T | Promise<T>): Promise<T> {
  try {
    return await handle();
  } catch (error) {
    throw toRequestError(error);
  }
}

function readSetModelParams(value: unknown): { sessionId: string; modelId: string } {
  const { sessionId, modelId } = isObject(value) ? value : {};
  if (typeof sessionId !== "string" || typeof modelId !== "string") {
    throw invalidParamsError("session/set_model needs sessionId and modelId, both strings");
  }
  return { sessionId, modelId };
}

function readSteerParams(value: unknown): { sessionId: string; prompt: ContentBlock[] } {
  const { sessionId, prompt } = isObject(value) ? value : {};
  if (typeof sessionId !== "string" || !Array.isArray(prompt) || !prompt.every(isObject)) {
    throw invalidParamsError(`${STEER} needs sessionId, a string, and prompt, a list of blocks`);
  }
  return { sessionId, prompt: prompt as ContentBlock[] };
}

function readConfigChange(session: AcpSession, { configId, value }: SetSessionConfigOptionRequest) {
  if (typeof value !== "string") throw invalidParamsError(`the value of ${configId} must be a string`);
  if (configId === MODE_OPTION) return { agent: value };
  if (configId === MODEL_OPTION) return parseModelId(session.runtime, value);
  if (configId === EFFORT_OPTION) return parseEffort(value);
  const known = [MODE_OPTION, MODEL_OPTION, EFFORT_OPTION].join(", ");
  throw invalidParamsError(`no option "${configId}"; known: ${known}`);
}

function toSessionDefaults(flags: AcpOptions["flags"]) {
  const { agent: name, provider, model, effort, yes, dryRun, noTranscript } = flags;
  return {
    ...defined({ agent: name, provider, model, effort, yes, dryRun }),
    ...(noTranscript === true && { transcript: false }),
  };
}

const loadRuntime: CreateRuntime = async (order) => (await import("../runtime.ts")).createRuntime(order);

/** Runs while the client reads the response to initialize. Failures are reported when a session is opened. */
async function preload(): Promise<void> {
  await import("../runtime.ts").catch(() => undefined);
}
