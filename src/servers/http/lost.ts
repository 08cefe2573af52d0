// What is told to who asks for a path that is not there, or with a method that it does not have.
import { CodedError } from "../../base/coded-error.ts";
import { nearest } from "../../base/nearest.ts";
import type { Route } from "./route.ts";

export function lostError(method: string, path: string, routes: readonly Route[]): CodedError {
  const here = routes.filter((row) => matches(row.path, path));
  if (here.length === 0) return new CodedError("not_found", `no route ${path}${guessText(path, routes)}`);
  const allow = here.map((row) => row.method.toUpperCase());
  const message = `${path} has no ${method}, but ${allow.join(", ")}`;
  return new CodedError("method_not_allowed", message, { data: { allow } });
}

export function matches(template: string, path: string): boolean {
  const wanted = template.split("/");
  const parts = path.split("/");
  if (wanted.length !== parts.length) return false;
  return wanted.every((part, at) => (part.startsWith("{") ? parts[at] !== "" : part === parts[at]));
}

/** The route that was probably meant, with the ids that were given. */
function guessText(path: string, routes: readonly Route[]): string {
  // `/sessions/` is no route, but almost one.
  const parts = path
    .slice(0, 500)
    .replace(/(?<=.)\/$/, "")
    .split("/");
  const filled = routes
    .map((row) => row.path.split("/"))
    .filter((template) => template.length === parts.length)
    .filter((template) => !template.some((part, at) => part.startsWith("{") && parts[at] === ""))
    .map((template) => template.map((part, at) => (part.startsWith("{") ? parts[at] : part)).join("/"));
  const guess = nearest(parts.join("/"), [...new Set(filled)]);
  return guess === undefined ? "; GET /openapi.json has all of them" : `; did you mean ${guess}?`;
}
