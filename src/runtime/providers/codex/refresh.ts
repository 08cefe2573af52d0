// Keeps a login alive: renewed shortly before it ends and once after a 401, by one at a time. A refresh token can be
// used once: whoever uses it again is logged out, so other processes are waited for and what is stored is read before.
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { CodedError } from "../../../base/coded-error.ts";
import { takeLock } from "../../process-lock.ts";
import { type Env, ensurePrivateDir, stateDir } from "../../state-dir.ts";
import { secretsOf } from "../credentials.ts";
import { abortedError } from "../failure.ts";
import type { Fetch } from "../guarded-fetch.ts";
import type { CodexConfig } from "../registry-types.ts";
import { ProviderError } from "../types.ts";
import { type Login, renewedLogin, type Stored, secretsIn } from "./auth-json.ts";
import { AuthStore, type StoreOrder } from "./auth-store.ts";
import { exchangeTokens, type RefreshFault, RefreshRefused } from "./exchange.ts";
import { keyringAccount } from "./keyring.ts";

const EXCHANGE_LIMIT_MS = 60_000;
/** Who holds it may take as long as its exchange may. */
const LOCK_LIMIT_MS = EXCHANGE_LIMIT_MS + 5000;
const LOCK_POLL_MS = 50;
const SETTLE_LIMIT_MS = 10_000;

export interface LoginOrder extends StoreOrder {
  refresh: CodexConfig["refresh"];
  env: Env;
}

/** Who asks: its provider, its patience, its ears. */
export interface Asker {
  /** The provider's key in the configuration. */
  key: string;
  model: string;
  fetch?: Fetch | undefined;
  signal: AbortSignal;
  warn(message: string): void;
}

/** Providers come and go with agents; the login they share is one, and so is its renewal. */
const SHARED = new Map<string, CodexLogin>();

export function sharedLogin(order: LoginOrder): CodexLogin {
  const { codexHome, authStore, refresh, env } = order;
  const id = JSON.stringify([
    codexHome,
    authStore,
    refresh.url,
    refresh.clientId,
    refresh.proactiveMinutes,
    stateDir(env),
  ]);
  const known = SHARED.get(id);
  if (known !== undefined && known.keyring === order.keyring) return known;
  const fresh = new CodexLogin(order);
  SHARED.set(id, fresh);
  return fresh;
}

/** For who ends the process: a renewal whose answer nobody hears has used up the login, and its user is logged out. */
export async function settleRenewals(limitMs = SETTLE_LIMIT_MS): Promise<void> {
  const renewals = [...SHARED.values()].flatMap(({ renewal }) => renewal ?? []);
  if (renewals.length === 0) return;
  await Promise.race([Promise.allSettled(renewals), wait(limitMs, undefined, { ref: false })]);
}

export class CodexLogin {
  readonly #order: LoginOrder;
  readonly #store: AuthStore;
  #renewal: Promise<Login> | undefined;
  /** A refresh token that was refused, and why: it is not tried again. */
  #dead: { refreshToken: string; fault: RefreshFault } | undefined;

  constructor(order: LoginOrder) {
    this.#order = order;
    this.#store = new AuthStore(order);
  }

  get keyring(): StoreOrder["keyring"] {
    return this.#order.keyring;
  }

  /** The one that is under way. */
  get renewal(): Promise<Login> | undefined {
    return this.#renewal;
  }

  /** What is stored, renewed if it ends soon. Undefined: nothing. Rejects with `ProviderError`. */
  async current(asker: Asker): Promise<Stored | undefined> {
    const stored = await unlessAborted(() => this.#load(asker), asker.signal);
    if (stored === undefined || "apiKey" in stored || !this.#endsSoon(stored.login)) return stored;
    try {
      return { login: await this.renew(stored.login, asker) };
    } catch (error) {
      // It holds for a moment still; the next request tries again.
      if (!asker.signal.aborted && !isOver(stored.login)) return stored;
      throw error;
    }
  }

  /** Another login than `stale`. Whoever gives up waiting does not end the renewal: its answer must not be lost. */
  async renew(stale: Login, asker: Asker): Promise<Login> {
    return unlessAborted(() => {
      this.#renewal ??= this.#renewAlone(stale, asker).finally(() => {
        this.#renewal = undefined;
      });
      return this.#renewal;
    }, asker.signal);
  }

  async #renewAlone(stale: Login, asker: Asker): Promise<Login> {
    const unlock = await this.#lock();
    try {
      const login = await this.#reload(asker);
      // Another process, or Codex itself, was faster.
      if (login.accessToken !== stale.accessToken && !isOver(login)) return login;
      return await this.#exchange(login, asker, true);
    } finally {
      unlock();
    }
  }

  async #exchange(login: Login, asker: Asker, mayReload: boolean): Promise<Login> {
    const { refreshToken } = login;
    if (refreshToken === undefined) throw authError(asker, "has ended and cannot be renewed");
    const why = await this.#store.whyReadOnly(login);
    if (why !== undefined) throw authError(asker, `has to be renewed by Codex itself, because ${why}`);
    if (this.#dead?.refreshToken === refreshToken) throw authError(asker, WHY[this.#dead.fault]);
    try {
      const tokens = await exchangeTokens({
        place: this.#place(asker, login),
        clientId: this.#order.refresh.clientId,
        refreshToken,
        fetch: asker.fetch,
        signal: AbortSignal.timeout(EXCHANGE_LIMIT_MS),
      });
      const renewed = renewedLogin(login, tokens, new Date());
      const kept = await this.#store.keep(renewed, login);
      if (kept === "replaced") return await this.#reload(asker);
      if (kept !== "kept") asker.warn(kept.problem);
      return renewed;
    } catch (error) {
      if (!(error instanceof RefreshRefused)) throw error;
      if (error.fault === "refresh_token_reused" && mayReload) {
        const newer = await this.#reload(asker);
        if (newer.refreshToken !== refreshToken) {
          return isOver(newer) ? this.#exchange(newer, asker, false) : newer;
        }
      }
      this.#dead = { refreshToken, fault: error.fault };
      throw authError(asker, WHY[error.fault]);
    }
  }

  async #load(asker: Asker, fresh = false): Promise<Stored | undefined> {
    try {
      return await this.#store.load({ fresh });
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      throw new ProviderError(
        { kind: "auth", message: `the provider ${asker.key}: ${error.message}` },
        error,
      );
    }
  }

  async #reload(asker: Asker): Promise<Login> {
    const stored = await this.#load(asker, true);
    if (stored === undefined || "apiKey" in stored) throw authError(asker, "is gone");
    return stored.login;
  }

  /** In our own state: the home of Codex is not ours to write. Without it the reload before must do. */
  async #lock(): Promise<() => void> {
    const directory = join(stateDir(this.#order.env), "codex");
    const path = join(directory, `${keyringAccount(this.#order.codexHome).replace("|", "-")}.lock`);
    const deadline = performance.now() + LOCK_LIMIT_MS;
    for (;;) {
      try {
        await ensurePrivateDir(directory);
        return takeLock(path, "the login of Codex");
      } catch (error) {
        const isHeld = error instanceof CodedError && error.code === "session_locked";
        if (!isHeld || performance.now() > deadline) return () => undefined;
        await wait(LOCK_POLL_MS);
      }
    }
  }

  #endsSoon({ expiresAtMs }: Login): boolean {
    if (expiresAtMs === undefined) return false;
    return expiresAtMs - Date.now() <= this.#order.refresh.proactiveMinutes * 60_000;
  }

  #place({ key, model }: Asker, login: Login) {
    const url = this.#order.refresh.url;
    return { key, model, url, secrets: secretsOf(...secretsIn(login)), authAdvice: ADVICE };
  }
}

export const ADVICE = "log in again with `codex login`";

const WHY: Readonly<Record<RefreshFault, string>> = {
  refresh_token_expired: "has ended (refresh_token_expired)",
  refresh_token_invalidated: "was revoked (refresh_token_invalidated)",
  refresh_token_reused:
    "was already renewed elsewhere, and what that gave is not stored here (refresh_token_reused)",
  other: "was refused when it was to be renewed",
};

function authError({ key }: Asker, what: string): ProviderError {
  return new ProviderError({
    kind: "auth",
    message: `the provider ${key}: the login of Codex ${what}; ${ADVICE}`,
  });
}

function isOver({ expiresAtMs }: Login): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= Date.now();
}

async function unlessAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw abortedError();
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(abortedError());
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
