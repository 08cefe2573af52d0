// Notifies the user about new requests: page title, app badge and, if allowed, desktop notifications.

import { sanitizeLine } from "../../src/base/sanitize.ts";
import type { Fleet } from "../../src/client/view/fleet.ts";
import type { RequestRow } from "../../src/client/view/types.ts";
import type { App } from "./app-types.ts";

const SEEN = "blemees.seen";
const MAX_TEXT = 200;
const ICON = "/web/icon.svg";
/** More digits cannot be read at that size. */
const MAX_IN_ICON = 9;

/** Requests that are newly pending. The initial state does not count. */
export function findNewRequests(before: Fleet | undefined, now: Fleet): RequestRow[] {
  if (before === undefined || before.link.state === "connecting") return [];
  return [...now.requests.values()].filter(
    (row) => row.status === "pending" && !before.requests.has(row.request_id),
  );
}

export function formatTitle(fleet: Fleet, page: string): string {
  const count = waitingCount(fleet);
  return count === 0 ? page : `(${count}) ${page}`;
}

export function waitingCount(fleet: Fleet): number {
  return [...fleet.requests.values()].filter(({ status }) => status === "pending").length;
}

/** Returns a function that stops it. */
export function watchWaiting(app: App): () => void {
  let before: Fleet | undefined;
  const update = (fleet: Fleet): void => {
    document.title = formatTitle(fleet, "blemees");
    badge(waitingCount(fleet));
    drawIcon(waitingCount(fleet));
    const added = findNewRequests(before, fleet);
    before = fleet;
    if (document.visibilityState === "hidden") void notify(app, added);
  };
  const stop = app.fleet.subscribe(update);
  const endSeen = holdWhileSeen();
  return () => {
    stop();
    endSeen();
  };
}

export function canAsk(): boolean {
  return "Notification" in globalThis && Notification.permission === "default";
}

async function notify(app: App, added: readonly RequestRow[]): Promise<void> {
  if (added.length === 0 || !("Notification" in globalThis) || Notification.permission !== "granted") return;
  if (await isSeenElsewhere()) return;
  for (const row of added) {
    const session = app.fleet.get().sessions.get(row.session_id);
    const title = `${session?.name ?? session?.title ?? row.session_id.slice(0, 8)} needs your answer`;
    const body = sanitizeLine(row.payload.title).slice(0, MAX_TEXT);
    const note = new Notification(sanitizeLine(title).slice(0, MAX_TEXT), {
      body,
      tag: row.request_id,
      icon: ICON,
    });
    note.onclick = () => {
      window.focus();
      app.navigate({ name: "session", session_id: row.session_id });
      note.close();
    };
  }
}

/** Whether another visible tab already shows it. */
async function isSeenElsewhere(): Promise<boolean> {
  if (!("locks" in navigator)) return false;
  const { held = [] } = await navigator.locks.query();
  return held.some(({ name }) => name === SEEN);
}

function holdWhileSeen(): () => void {
  if (!("locks" in navigator)) return () => undefined;
  let free: (() => void) | undefined;
  const update = (): void => {
    free?.();
    free = undefined;
    if (document.visibilityState === "hidden") return;
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    void navigator.locks.request(SEEN, { mode: "shared" }, () => held);
  };
  update();
  document.addEventListener("visibilitychange", update);
  return () => {
    document.removeEventListener("visibilitychange", update);
    free?.();
  };
}

/** The icon with the number of requests, for browsers that show no badge. */
export function makeIcon(count: number): string {
  const text = count > MAX_IN_ICON ? `${MAX_IN_ICON}+` : String(count);
  const size = text.length > 1 ? 30 : 40;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="15" fill="#4a4ed3"/><circle cx="38" cy="38" r="26" fill="#ffc661"/><text x="38" y="${38 + size * 0.36}" font-size="${size}" font-weight="700" font-family="sans-serif" text-anchor="middle" fill="#2a1c00">${text}</text></svg>`;
}

function drawIcon(count: number): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (link === null) return;
  const href = count === 0 ? ICON : `data:image/svg+xml,${encodeURIComponent(makeIcon(count))}`;
  if (link.getAttribute("href") !== href) link.setAttribute("href", href);
}

function badge(count: number): void {
  // Not supported everywhere, and refused for pages that are not installed.
  if ("setAppBadge" in navigator) void navigator.setAppBadge(count).catch(() => undefined);
}
