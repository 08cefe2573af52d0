// Paths of requests, with their queries.

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export function toPath(...parts: string[]): string {
  return ["/sessions", ...parts.map(encodeURIComponent)].join("/");
}

export function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, String(value)] as [string, string]],
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}
