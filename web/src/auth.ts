// How the page gets its token: a one-time link has it in the fragment; it is exchanged for the daemon's bearer token,
// which lives in this tab's sessionStorage and nowhere else.

const KEY = "blemees.token";
const ONE_TIME = /^#token=([A-Za-z0-9._~-]+)$/;

/** What of a browser is needed; a test gives its own. */
export interface Place {
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
 * `none`: there never was a token in this tab. `used`: the link is old, or was used before. `refused`: the daemon took
 * our token no longer. `away`: nobody answers.
 */
export type Refusal = "none" | "used" | "refused" | "away";
export type Entrance = { kind: "in"; token: string } | { kind: "out"; why: Refusal };

/** Whether the address is that of a link: in a tab that is open a link only changes the hash. */
export function isLink(hash: string): boolean {
  return hash.startsWith("#token=");
}

/** The token of a link is taken out of the address before anything else happens with it; `back`: what stands there then. */
export async function enter(place: Place, back = "#/"): Promise<Entrance> {
  const oneTime = ONE_TIME.exec(place.location.hash)?.[1];
  if (isLink(place.location.hash)) place.history.replaceState(null, "", `${place.location.pathname}${back}`);
  const kept = place.storage.getItem(KEY);
  if (oneTime === undefined)
    return kept === null ? { kind: "out", why: "none" } : { kind: "in", token: kept };
  const fresh = await exchange(place, oneTime);
  // A link that is opened twice in the same tab is no reason to send somebody away who is in already.
  if (fresh.kind === "out" && kept !== null) return { kind: "in", token: kept };
  if (fresh.kind === "in") place.storage.setItem(KEY, fresh.token);
  return fresh;
}

export function forget(place: Pick<Place, "storage">): void {
  place.storage.removeItem(KEY);
}

async function exchange(place: Place, oneTime: string): Promise<Entrance> {
  try {
    const response = await place.fetch("/web/enter", {
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
    // fetch fails like this, and only like this, when nobody answers.
    return { kind: "out", why: "away" };
  }
}
