// The access a request needs, from its method and raw path: compared literally, not resolved, so that no normalization
// can widen access.
import type { IncomingMessage } from "node:http";
import { PAGE, type WebFiles } from "./files.ts";

/** `page`, `file`: static files without data. `ticket`: the route itself checks the ticket. */
export type Access = "token" | "page" | "file" | "ticket";

export const ENTER = "/web/enter";

export function findAccess(
  { method, url }: Pick<IncomingMessage, "method" | "url">,
  files: () => WebFiles,
): Access {
  const path = url?.split("?")[0] ?? "";
  if (method === "POST" && path === ENTER) return "ticket";
  if (method !== "GET") return "token";
  if (path === PAGE) return "page";
  return path.startsWith("/web/") && isFile(path, files) ? "file" : "token";
}

function isFile(path: string, files: () => WebFiles): boolean {
  try {
    return files().has(path);
  } catch {
    return false; // not built
  }
}
