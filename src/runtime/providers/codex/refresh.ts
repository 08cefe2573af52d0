// Renews the login shortly before it expires, and once after a 401. A refresh token works once and a second use logs the
// user out, so renewals take a lock shared by all processes and reread the stored login first.

import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { CodedError } from "../../../base/coded-error.ts";
import { ensurePrivateDir } from "../../../base/private-file.ts";
import { awaitUnlessAborted } from "../../abort.ts";
import { takeLock } from "../../process-lock.ts";
import { type Env, getStateDir } from "../../state-dir.ts";
import { filterSecrets } from "../credentials.ts";
import { abortedError } from "../failure.ts";
import type { Fetch } from "../guarded-fetch.ts";
import type { CodexConfig } from "../registry-types.ts";
import { ProviderError } from "../types.ts";
import { applyTokens, type Login, listSecrets, type Stored } from "./auth-json.ts";
import { AuthStore, type AuthStoreOptions } from "./auth-store.ts";
import { exchangeTokens, type RefreshFault, RefreshRefused } from "./exchange.ts";
import { makeKeyringAccount } from "./keyring.ts";

const EXCHANGE_LIMIT_MS = 60_000;
/** Long enough for another process to finish its exchange. */
const LOCK_LIMIT_MS = EXCHANGE_LIMIT_MS + 5000;
const LOCK_POLL_MS = 50;
const SETTLE_LIMIT_MS = 10_000;

export interface LoginOptions extends AuthStoreOptions {
  refresh: CodexConfig["refresh"];
  env: Env;
}

/** The provider that needs the login. */
export interface LoginCaller {
  /** The provider's key in the configuration. */
  key: string;
  model: string;
  fetch?: Fetch | undefined;
  signal: AbortSignal;
  warn(message: string): void;
}

/** Providers come and go with agents, but share one login and its renewal. */
const SHARED = new Map<string, CodexLogin>();

export function getSharedLogin(options: LoginOptions): CodexLogin {
  const { codexHome, authStore, refresh, env } = options;
  const id = JSON.stringify([
    codexHome,
    authStore,
    refresh.url,
    refresh.clientId,
    refresh.proactiveMinutes,
    getStateDir(env),
  ]);
  const known = SHARED.get(id);
  if (known !== undefined && known.keyring === options.keyring) return known;
  const fresh = new CodexLogin(options);
  SHARED.set(id, fresh);
  return fresh;
}

/** Call before exiting: an interrupted renewal has used up the refresh token and logs the user out. */
export async function settleRenewals(limitMs = SETTLE_LIMIT_MS): Promise<void> {
  const renewals = [...SHARED.values()].flatMap(({ renewal }) => renewal ?? []);
  if (renewals.length === 0) return;
  await Promise.race([Promise.allSettled(renewals), wait(limitMs, undefined, { ref: false })]);
}

export class CodexLogin {
  readonly #options: LoginOptions;
  readonly #store: AuthStore;
  #renewal: Promise<Login> | undefined;
  /** A refused refresh token; not tried again. */
  #dead: { refreshToken: string; fault: RefreshFault } | undefined;

  constructor(options: LoginOptions) {
    this.#options = options;
    this.#store = new AuthStore(options);
  }

  get keyring(): AuthStoreOptions["keyring"] {
    return this.#options.keyring;
  }

  /** The renewal in progress. */
  get renewal(): Promise<Login> | undefined {
    return this.#renewal;
  }

  /** The stored login, renewed if it expires soon. Rejects with `ProviderError`. */
  async current(caller: LoginCaller): Promise<Stored | undefined> {
    const stored = await unlessAborted(() => this.#load(caller), caller.signal);
    if (stored === undefined || "apiKey" in stored || !this.#endsSoon(stored.login)) return stored;
    try {
      return { login: await this.renew(stored.login, caller) };
    } catch (error) {
      // Still valid for now; the next request tries again.
      if (!caller.signal.aborted && !isExpired(stored.login)) return stored;
      throw error;
    }
  }

  /** Returns a login other than `stale`. An abort stops the wait, not the renewal, whose result must not be lost. */
  async renew(stale: Login, caller: LoginCaller): Promise<Login> {
    return unlessAborted(() => {
      this.#renewal ??= this.#renewAlone(stale, caller).finally(() => {
        this.#renewal = undefined;
      });
      return this.#renewal;
    }, caller.signal);
  }

  async #renewAlone(stale: Login, caller: LoginCaller): Promise<Login> {
    const unlock = await this.#lock();
    try {
      const login = await this.#reload(caller);
      // Another process has renewed it.
      if (login.accessToken !== stale.accessToken && !isExpired(login)) return login;
      return await this.#exchange(login, caller, true);
    } finally {
      unlock();
    }
  }

  async #exchange(login: Login, caller: LoginCaller, mayReload: boolean): Promise<Login> {
    const { refreshToken } = login;
    if (refreshToken === undefined) throw authError(caller, "has expired and cannot be renewed");
    const why = await this.#store.explainReadOnly(login);
    if (why !== undefined) throw authError(caller, `must be renewed by Codex itself, because ${why}`);
    if (this.#dead?.refreshToken === refreshToken) throw authError(caller, WHY[this.#dead.fault]);
    try {
      const tokens = await exchangeTokens({
        endpoint: this.#endpoint(caller, login),
        clientId: this.#options.refresh.clientId,
        refreshToken,
        fetch: caller.fetch,
        signal: AbortSignal.timeout(EXCHANGE_LIMIT_MS),
      });
      const renewed = applyTokens(login, tokens, new Date());
      const saved = await this.#store.save(renewed, login);
      if (saved === "replaced") return await this.#reload(caller);
      if (saved !== "saved") caller.warn(saved.problem);
      return renewed;
    } catch (error) {
      if (!(error instanceof RefreshRefused)) throw error;
      if (error.fault === "refresh_token_reused" && mayReload) {
        const newer = await this.#reload(caller);
        if (newer.refreshToken !== refreshToken) {
          return isExpired(newer) ? this.#exchange(newer, caller, false) : newer;
        }
      }
      this.#dead = { refreshToken, fault: error.fault };
      throw authError(caller, WHY[error.fault]);
    }
  }

  async #load(caller: LoginCaller, fresh = false): Promise<Stored | undefined> {
    try {
      return await this.#store.load({ fresh });
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      throw new ProviderError(
        { kind: "auth", message: `the provider ${caller.key}: ${error.message}` },
        error,
      );
    }
  }

  async #reload(caller: LoginCaller): Promise<Login> {
    const stored = await this.#load(caller, true);
    if (stored === undefined || "apiKey" in stored) throw authError(caller, "is missing");
    return stored.login;
  }

  /** The lock is in our state directory, not in Codex's home. If it cannot be taken, rereading the login has to do. */
  async #lock(): Promise<() => void> {
    const directory = join(getStateDir(this.#options.env), "codex");
    const path = join(directory, `${makeKeyringAccount(this.#options.codexHome).replace("|", "-")}.lock`);
    const deadline = performance.now() + LOCK_LIMIT_MS;
    for (;;) {
      try {
        await ensurePrivateDir(directory);
        return takeLock(path, "the Codex login");
      } catch (error) {
        const isHeld = error instanceof CodedError && error.code === "session_locked";
        if (!isHeld || performance.now() > deadline) return () => undefined;
        await wait(LOCK_POLL_MS);
      }
    }
  }

  #endsSoon({ expiresAtMs }: Login): boolean {
    if (expiresAtMs === undefined) return false;
    return expiresAtMs - Date.now() <= this.#options.refresh.proactiveMinutes * 60_000;
  }

  #endpoint({ key, model }: LoginCaller, login: Login) {
    const url = this.#options.refresh.url;
    return { key, model, url, secrets: filterSecrets(...listSecrets(login)), authAdvice: ADVICE };
  }
}

export const ADVICE = "log in again with `codex login`";

const WHY: Readonly<Record<RefreshFault, string>> = {
  refresh_token_expired: "has expired (refresh_token_expired)",
  refresh_token_invalidated: "was revoked (refresh_token_invalidated)",
  refresh_token_reused:
    "was already renewed elsewhere, and the new one is not stored here (refresh_token_reused)",
  other: "could not be renewed: the server refused it",
};

function authError({ key }: LoginCaller, what: string): ProviderError {
  return new ProviderError({
    kind: "auth",
    message: `the provider ${key}: the Codex login ${what}; ${ADVICE}`,
  });
}

function isExpired({ expiresAtMs }: Login): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= Date.now();
}

function unlessAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return awaitUnlessAborted(work, signal).catch((error: unknown) => {
    throw signal.aborted ? abortedError() : error;
  });
}
