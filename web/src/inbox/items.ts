// Which item of the inbox is shown. Pure.
import type { InboxItem } from "../../../src/client/view/inbox.ts";

/** The item with this request. If that was answered or withdrawn: what took its place, the last item at the end. */
export function findItem(items: readonly InboxItem[], chosen: string | undefined, at: number): number {
  const found = items.findIndex(({ requests }) => requests.some(({ request_id }) => request_id === chosen));
  return found === -1 ? Math.max(0, Math.min(at, items.length - 1)) : found;
}

/** The items of before where nothing changed, so that their cards are not drawn again. */
export function keepItems(before: readonly InboxItem[], items: readonly InboxItem[]): InboxItem[] {
  const known = new Map(before.map((item) => [item.requests[0]?.request_id, item]));
  return items.map((item) => {
    const old = known.get(item.requests[0]?.request_id);
    const isSame =
      old !== undefined &&
      old.requests.length === item.requests.length &&
      old.requests.every((row, at) => row === item.requests[at]);
    return isSame ? old : item;
  });
}

export function stepItem(items: readonly InboxItem[], at: number, by: 1 | -1): number {
  return Math.max(0, Math.min(items.length - 1, at + by));
}
