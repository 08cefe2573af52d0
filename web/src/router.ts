// Routes in the URL hash: `#/`, `#/s/<id>`, `#/s/<id>/changes`, `#/s/<id>/at/<seq>`, `#/search`, `#/search/<words>`, `#/inbox`, `#/inbox/<request>`, `#/stats`, `#/stats/<id>`, `#/usage`, `#/usage/<id>`, `#/outside`, `#/outside/<id>/<agent>`, `#/daemon`, `#/new`, `#/help`.
import type { Route } from "./app-types.ts";

/** Unknown hashes are home. */
export function parseHash(hash: string): Route {
  const [page = "", rest, view, seq = ""] = hash.replace(/^#\/?/, "").split("/", 4);
  const session_id = decode(rest);
  if (page === "s" && session_id && view === "at" && /^\d{1,15}$/.test(seq))
    return { name: "session", session_id, at_seq: Number(seq) };
  if (page === "search") return session_id ? { name: "search", text: session_id } : { name: "search" };
  if (page === "s" && session_id)
    return { name: "session", session_id, ...(view === "changes" ? { view } : {}) };
  if (page === "inbox") return session_id ? { name: "inbox", request_id: session_id } : { name: "inbox" };
  if (page === "stats" || page === "usage") return session_id ? { name: page, session_id } : { name: page };
  if (page === "outside" && session_id) {
    const agent = decode(view);
    return { name: "outside", session_id, ...(agent ? { agent } : {}) };
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
    return ["#/outside", route.session_id, ...(route.agent === undefined ? [] : [route.agent])]
      .map((part, at) => (at === 0 ? part : encodeURIComponent(part)))
      .join("/");
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
