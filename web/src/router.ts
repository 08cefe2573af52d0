// Routes in the URL hash: `#/`, `#/s/<id>`, `#/s/<id>/changes`, `#/stats`, `#/stats/<id>`, `#/new`, `#/help`.
import type { Route } from "./app-types.ts";

/** Unknown hashes are home. */
export function parseHash(hash: string): Route {
  const [page = "", rest, view] = hash.replace(/^#\/?/, "").split("/", 3);
  const session_id = decode(rest);
  if (page === "s" && session_id)
    return { name: "session", session_id, ...(view === "changes" ? { view } : {}) };
  if (page === "stats") return session_id ? { name: "stats", session_id } : { name: "stats" };
  if (page === "new" || page === "help") return { name: page };
  return { name: "home" };
}

export function toHash(route: Route): string {
  if (route.name === "session")
    return `#/s/${encodeURIComponent(route.session_id)}${route.view === undefined ? "" : `/${route.view}`}`;
  if (route.name === "stats")
    return route.session_id === undefined ? "#/stats" : `#/stats/${encodeURIComponent(route.session_id)}`;
  return route.name === "home" ? "#/" : `#/${route.name}`;
}

function decode(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    // Malformed escape.
    return undefined;
  }
}
