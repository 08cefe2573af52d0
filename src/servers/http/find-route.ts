// Finds the route for a request. Errors name the allowed methods, or the nearest route.
import { CodedError } from "../../base/coded-error.ts";
import { pickNearest } from "../../base/nearest.ts";
import type { Route } from "./route.ts";

export interface FoundRoute {
  row: Route;
  params: Record<string, string>;
}

/** Throws `not_found` or `method_not_allowed`. */
export function findRoute(method: string, path: string, routes: readonly Route[]): FoundRoute {
  const found = routes.flatMap((row) => {
    const params = matchPath(row.path, path);
    return params === undefined ? [] : [{ row, params }];
  });
  const match = found.find(({ row }) => row.method.toUpperCase() === method);
  if (match !== undefined) return match;
  if (found.length === 0) throw new CodedError("not_found", `no route ${path}${suggest(path, routes)}`);
  const allow = found.map(({ row }) => row.method.toUpperCase());
  const message = `${path} does not support ${method}; use ${allow.join(" or ")}`;
  throw new CodedError("method_not_allowed", message, { data: { allow } });
}

/** The values of `{name}` segments, or undefined if the path does not match. Exact: `/sessions/` is not `/sessions`. */
export function matchPath(template: string, path: string): Record<string, string> | undefined {
  const wanted = template.split("/");
  const parts = path.split("/");
  if (wanted.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const name = wanted[at] ?? "";
    if (!name.startsWith("{") ? part !== name : part === "") return undefined;
    if (name.startsWith("{")) params[name.slice(1, -1)] = decodeSegment(part);
  }
  return params;
}

/** Invalid escapes stay as they are; no parameter's schema accepts them. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The route that was probably meant, with the given ids. */
function suggest(path: string, routes: readonly Route[]): string {
  // A trailing slash is the usual mistake.
  const parts = path
    .slice(0, 500)
    .replace(/(?<=.)\/$/, "")
    .split("/");
  const filled = routes
    .map((row) => row.path.split("/"))
    .filter((template) => template.length === parts.length)
    .filter((template) => !template.some((part, at) => part.startsWith("{") && parts[at] === ""))
    .map((template) => template.map((part, at) => (part.startsWith("{") ? parts[at] : part)).join("/"));
  const guess = pickNearest(parts.join("/"), [...new Set(filled)]);
  return guess === undefined ? "; see GET /openapi.json" : `; did you mean ${guess}?`;
}
