// What a request needs to be let in, from its method and its path as they stand in the request line: they are compared
// with names, not resolved, so that nothing which a router would make of them counts.
import type { IncomingMessage } from "node:http";
import { PAGE, type WebFiles } from "./files.ts";

/** `page`, `file`: the dashboard's shell, which holds no data. `ticket`: the route itself checks its one-time word. */
export type Access = "token" | "page" | "file" | "ticket";

export const ENTER = "/web/enter";

export function accessOf(
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
    return false; // without files there is nothing to let anybody in for
  }
}
