// The provider for the Responses API with the login of the Codex CLI. Codex itself is not run: tools, permissions and
// history are ours.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Env, getStateDir, readStateFile, writeStateFile } from "../../state-dir.ts";
import { EchoMemory } from "../echo-memory.ts";
import { guardFetch } from "../guarded-fetch.ts";
import { createModelList } from "../models/list.ts";
import { endRefused, postJson, type Reply } from "../post.ts";
import { readAnswer } from "../read-answer.ts";
import type { CodexConfig, ProviderContext } from "../registry-types.ts";
import { reserveIds } from "../settle.ts";
import { createRetryingProvider } from "../stream-with-retry.ts";
import type { ChatRequest, ChatStreamEvent, Provider } from "../types.ts";
import { type Access, createLoginAccess, requireAccess, resolveAccess } from "./access.ts";
import { CodexAnswer } from "./answer.ts";
import { resolveCodexHome } from "./codex-home.ts";
import { readCodexFailure } from "./fault.ts";
import { getPlatformKeyring } from "./keyring.ts";
import { getSharedLogin } from "./refresh.ts";
import { buildRequest, type CodexEcho } from "./request.ts";

/** Throws `CodedError` if there is no login or the configuration is incomplete. */
export function createCodexProvider(config: CodexConfig, context: ProviderContext): Provider {
  const { key, model, env } = context;
  const codexHome = resolveCodexHome(config, env);
  const keyring = context.keyring ?? getPlatformKeyring();
  const options = { config, context, codexHome, keyring };
  requireAccess(options);
  const { authStore, refresh } = config;
  const login = getSharedLogin({ codexHome, authStore, refresh, env, keyring });
  const usedIds = new Set<string>();
  let echoes = new EchoMemory<CodexEcho>();
  let installation: Promise<string> | undefined;
  const getInstallationId = () => {
    installation ??= readInstallationId(codexHome, env);
    return installation;
  };

  async function* attempt(request: ChatRequest): AsyncGenerator<ChatStreamEvent> {
    reserveIds(request.messages, usedIds);
    const caller = toCaller(request);
    let access = await resolveAccess(options, await login.current(caller), getInstallationId);
    let reply = await ask(access, request);
    if (reply.refusal?.status === 401 && access.login !== undefined) {
      access = createLoginAccess(options, await login.renew(access.login, caller), await getInstallationId());
      reply = await ask(access, request);
    }
    // Reasoning that was encrypted for another account, or has expired, is left out.
    if (reply.refusal?.text.includes("invalid_encrypted_content")) {
      echoes = new EchoMemory<CodexEcho>();
      reply = await ask(access, request);
    }
    const { endpoint } = access;
    if (reply.refusal !== undefined) {
      yield endRefused(readCodexFailure(endpoint, reply.refusal), reply.refusal);
      return;
    }
    const answer = new CodexAnswer(endpoint);
    const isLast = () => answer.isFinished;
    const { signal } = request;
    yield* readAnswer(reply.body, answer, { endpoint, signal, usedIds: usedIds, memory: echoes, isLast });
  }

  function toCaller({ signal, onWarning }: ChatRequest) {
    return { key, model, fetch: context.fetch, signal, warn: (message: string) => onWarning?.(message) };
  }

  function ask({ endpoint, headers, installationId }: Access, request: ChatRequest): Promise<Reply> {
    const send = guardFetch({ fetch: context.fetch, endpoint, idleTimeoutMs: context.idleTimeoutMs });
    const body = buildRequest(request, { config, echoes, installationId });
    return postJson({ send, endpoint, headers, body, signal: request.signal });
  }

  /** The vendor lists for a login what its plan includes. */
  async function requestModels(url: string, signal: AbortSignal): Promise<Response> {
    const caller = { key, model, fetch: context.fetch, signal, warn: () => undefined };
    const access = await resolveAccess(options, await login.current(caller), getInstallationId);
    const { endpoint, headers } = access;
    const send = guardFetch({ fetch: context.fetch, endpoint, idleTimeoutMs: context.idleTimeoutMs });
    const listUrl = access.login === undefined ? endpoint.url.replace(/\/responses$/, "/models") : url;
    return send(listUrl, { headers: { ...headers, accept: "application/json" }, signal });
  }

  return {
    ...createRetryingProvider(config.type, attempt, { maxRetries: config.maxRetries, ...context.retry }),
    listModels: createModelList({
      url: `${config.baseURL.replace(/\/+$/, "")}/models?client_version=${CLIENT_VERSION}`,
      account: [codexHome, config.authStore, String(config.allowApiKeyFallback)],
      request: requestModels,
      env,
    }),
  };
}

/** The vendor lists the models that this version of Codex can use; the one whose requests ours resemble. */
const CLIENT_VERSION = "0.166.0";

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Sent with every request: Codex's own, or one in our state directory until Codex has been run. Never rejects. */
async function readInstallationId(codexHome: string, env: Env): Promise<string> {
  const theirs = await readFile(join(codexHome, "installation_id"), "utf8").catch(() => "");
  if (ID.test(theirs.trim())) return theirs.trim();
  const file = join(getStateDir(env), "codex", "installation-id.json");
  const ours = await readStateFile(file).catch(() => undefined);
  if (typeof ours === "string" && ID.test(ours)) return ours;
  const fresh = randomUUID();
  await writeStateFile(file, fresh).catch(() => undefined); // Valid for this process only.
  return fresh;
}
