// The provider that uses the login of the Codex CLI, by the Responses API. Codex itself is not run: tools, permissions
// and history are ours, it is the model alone.
import { readStart } from "../chunks.ts";
import { EchoMemory } from "../echo-memory.ts";
import { transportError } from "../failure.ts";
import { guardFetch } from "../guarded-fetch.ts";
import { readAnswer } from "../read-answer.ts";
import type { CodexConfig, ProviderContext } from "../registry-types.ts";
import { settle, takeIds } from "../settle.ts";
import { retryingProvider } from "../stream-with-retry.ts";
import { type ChatRequest, type ChatStreamEvent, type Provider, ProviderError } from "../types.ts";
import { type Access, loginAccess, requireAccess, toAccess } from "./access.ts";
import { Answer } from "./answer.ts";
import { codexHomeOf } from "./codex-home.ts";
import { answerFault } from "./fault.ts";
import { installationId } from "./installation.ts";
import { platformKeyring } from "./keyring.ts";
import { sharedLogin } from "./refresh.ts";
import { buildRequest, type Echo } from "./request.ts";

const MAX_ERROR_CHARS = 64 * 1024;

/** Throws `CodedError` where something has to be set first. */
export function createCodexProvider(config: CodexConfig, context: ProviderContext): Provider {
  const { key, model, env } = context;
  const codexHome = codexHomeOf(config, env);
  const keyring = context.keyring ?? platformKeyring();
  const order = { config, context, codexHome, keyring };
  requireAccess(order);
  const { authStore, refresh } = config;
  const login = sharedLogin({ codexHome, authStore, refresh, env, keyring });
  const taken = new Set<string>();
  let echoes = new EchoMemory<Echo>();
  let installation: Promise<string> | undefined;
  const installed = () => {
    installation ??= installationId(codexHome, env);
    return installation;
  };

  async function* attempt(request: ChatRequest): AsyncGenerator<ChatStreamEvent> {
    takeIds(request.messages, taken);
    const asker = askerOf(request);
    let access = await toAccess(order, await login.current(asker), installed);
    let answer = await ask(access, request);
    if (answer.status === 401 && access.login !== undefined) {
      await answer.body?.cancel().catch(() => undefined); // What it says is known.
      access = loginAccess(order, await login.renew(access.login, asker), await installed());
      answer = await ask(access, request);
    }
    let refusal = answer.ok ? undefined : await refusalOf(answer);
    // Thoughts that were sealed for another account, or are too old: it goes without them.
    if (refusal?.text.includes("invalid_encrypted_content")) {
      echoes = new EchoMemory<Echo>();
      answer = await ask(access, request);
      refusal = answer.ok ? undefined : await refusalOf(answer);
    }
    if (refusal !== undefined || answer.body === null) {
      yield refused(access, refusal ?? (await refusalOf(answer)));
      return;
    }
    const { place } = access;
    const growing = new Answer(place);
    const isLast = () => growing.isFinished;
    const { signal } = request;
    yield* readAnswer(answer.body, growing, { place, signal, taken, memory: echoes, isLast });
  }

  function askerOf({ signal, onWarning }: ChatRequest) {
    return { key, model, fetch: context.fetch, signal, warn: (message: string) => onWarning?.(message) };
  }

  async function ask({ place, headers, installationId }: Access, request: ChatRequest): Promise<Response> {
    const { signal } = request;
    const send = guardFetch({ fetch: context.fetch, place, idleTimeoutMs: context.idleTimeoutMs });
    const body = JSON.stringify(buildRequest(request, { config, echoes, installationId }));
    return send(place.url, { method: "POST", headers, body, signal }).catch((error: unknown) => {
      throw transportError(place, error, signal);
    });
  }

  return retryingProvider(config.type, attempt, { maxRetries: config.maxRetries, ...context.retry });
}

interface Refusal {
  status: number;
  headers: Headers;
  text: string;
}

async function refusalOf({ status, headers, body }: Response): Promise<Refusal> {
  return { status, headers, text: await readStart(body, MAX_ERROR_CHARS) };
}

/** Throws `ProviderError`, but for a filter, which is an answer. */
function refused({ place }: Access, refusal: Refusal): ChatStreamEvent {
  const failure = answerFault(place, refusal);
  if (failure.kind !== "content_filter") throw new ProviderError(failure);
  const raw = { error: refusal.text };
  return {
    type: "done",
    response: settle({ text: "", calls: [], stopReason: "content_filter", failure, raw }),
  };
}
