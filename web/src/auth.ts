// Authentication: the token in the fragment of a one-time link is exchanged for the daemon's bearer token, which is kept
// only in this tab's sessionStorage.

const KEY = "blemees.token";
const ONE_TIME = /^#token=([A-Za-z0-9._~-]+)$/;

/** The browser APIs used; replaced in tests. */
export interface BrowserEnv {
  location: { hash: string; pathname: string };
  history: { replaceState(data: unknown, unused: string, url: string): void };
  storage: {
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
    removeItem(key: string): void;
  };
  fetch: (path: string, init: RequestInit) => Promise<Response>;
}

/**
 * `none`: this tab has no token. `used`: the link has expired or was already used. `refused`: the daemon rejected our
 * token. `away`: the daemon is not responding.
 */
export type Refusal = "none" | "used" | "refused" | "away";
export type Entrance = { kind: "in"; token: string } | { kind: "out"; why: Refusal };

/** In an open tab, following a link only changes the hash. */
export function isLink(hash: string): boolean {
  return hash.startsWith("#token=");
}

/** Removes the token from the address first; `back` is the hash shown instead. */
export async function enter(env: BrowserEnv, back = "#/"): Promise<Entrance> {
  const oneTime = ONE_TIME.exec(env.location.hash)?.[1];
  if (isLink(env.location.hash)) env.history.replaceState(null, "", `${env.location.pathname}${back}`);
  const kept = env.storage.getItem(KEY);
  if (oneTime === undefined)
    return kept === null ? { kind: "out", why: "none" } : { kind: "in", token: kept };
  const fresh = await exchange(env, oneTime);
  // Opening a link twice in the same tab does not sign the user out.
  if (fresh.kind === "out" && kept !== null) return { kind: "in", token: kept };
  if (fresh.kind === "in") env.storage.setItem(KEY, fresh.token);
  return fresh;
}

export function forget(env: Pick<BrowserEnv, "storage">): void {
  env.storage.removeItem(KEY);
}

async function exchange(env: BrowserEnv, oneTime: string): Promise<Entrance> {
  try {
    const response = await env.fetch("/web/enter", {
      method: "POST",
      headers: { authorization: `Bearer ${oneTime}`, "content-type": "application/json" },
      body: "{}",
      cache: "no-store",
      credentials: "omit",
    });
    if (!response.ok) return { kind: "out", why: "used" };
    const { token } = (await response.json()) as { token?: unknown };
    return typeof token === "string" ? { kind: "in", token } : { kind: "out", why: "used" };
  } catch {
    // fetch rejects only if the daemon does not respond.
    return { kind: "out", why: "away" };
  }
}
