// A timestamp for the name of a file moved aside: 20260131T235959123Z.

export function formatTimestamp(atMs: number): string {
  return new Date(atMs).toISOString().replace(/[-:.]/g, "");
}
