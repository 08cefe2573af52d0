// A moment as it stands in the name of a file put aside: 20260131T235959123Z.

export function timestamp(atMs: number): string {
  return new Date(atMs).toISOString().replace(/[-:.]/g, "");
}
