// Routes in the URL hash: `#/`, `#/s/<id>`, `#/s/<id>/changes`, `#/s/<id>/at/<seq>`, `#/search`, `#/search/<words>`, `#/inbox`, `#/inbox/<request>`, `#/stats`, `#/stats/<id>`, `#/usage`, `#/usage/<id>`, `#/outside`, `#/outside/<id>/<agent>`, `#/outside/<id>/<agent>/at/<seq>`, `#/daemon`, `#/new`, `#/help`.
import type { Route } from "./app-types.ts";

const SEQ = /^\d{1,15}$/;

/** Unknown hashes are home. */
export function parseHash(hash: string): Route {
  const [page = "", rest, view, seq = "", last = ""] = hash.replace(/^#\/?/, "").split("/", 5);
  const session_id = decode(rest);
  if (page === "s" && session_id && view === "at" && SEQ.test(seq))
    return { name: "session", session_id, at_seq: Number(seq) };
  if (page === "search") return session_id ? { name: "search", text: session_id } : { name: "search" };
  if (page === "s" && session_id)
    return { name: "session", session_id, ...(view === "changes" ? { view } : {}) };
  if (page === "inbox") return session_id ? { name: "inbox", request_id: session_id } : { name: "inbox" };
  if (page === "stats" || page === "usage") return session_id ? { name: page, session_id } : { name: page };
  if (page === "outside" && session_id) {
    const agent = decode(view);
    const at_seq = agent && seq === "at" && SEQ.test(last) ? { at_seq: Number(last) } : {};
    return { name: "outside", session_id, ...(agent ? { agent } : {}), ...at_seq };
  }
  if (page === "outside" || page === "daemon" || page === "new" || page === "help") return { name: page };
  return { name: "home" };
}

export function toHash(route: Route): string {
  if (route.name === "search")
    return route.text === undefined ? "#/search" : `#/search/${encodeURIComponent(route.text)}`;
  if (route.name === "session" && route.at_seq !== undefined)
    return `#/s/${encodeURIComponent(route.session_id)}/at/${route.at_seq}`;
  if (route.name === "session")
    return `#/s/${encodeURIComponent(route.session_id)}${route.view === undefined ? "" : `/${route.view}`}`;
  if (route.name === "stats" || route.name === "usage")
    return route.session_id === undefined
      ? `#/${route.name}`
      : `#/${route.name}/${encodeURIComponent(route.session_id)}`;
  if (route.name === "inbox")
    return route.request_id === undefined ? "#/inbox" : `#/inbox/${encodeURIComponent(route.request_id)}`;
  if (route.name === "outside" && route.session_id !== undefined)
    return ["#/outside", ...[route.session_id, ...listPlace(route)].map(encodeURIComponent)].join("/");
  return route.name === "home" ? "#/" : `#/${route.name}`;
}

function listPlace({ agent, at_seq }: { agent?: string; at_seq?: number }): string[] {
  if (agent === undefined) return [];
  return at_seq === undefined ? [agent] : [agent, "at", String(at_seq)];
}

function decode(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    // Malformed escape.
    return undefined;
  }
}
