// The state shared by all elements: client, sessions, route, notices.

import { applyChanges, createFleet } from "../../src/client/view/fleet.ts";
import { openFleet } from "../../src/client/view/fleet-source.ts";
import { shareChanges } from "../../src/client/view/share.ts";
import { createApi, createViewApi } from "./api/client.ts";
import { documentVisibility, TabSlots, UNLIMITED } from "./api/slots.ts";
import { Value } from "./api/store.ts";
import { withSlots } from "./api/streams.ts";
import type { App, Confirm, Notice, Route } from "./app-types.ts";
import { isLink } from "./auth.ts";
import { parseHash, toHash } from "./router.ts";

export interface Opened {
  app: App;
  dismiss(id: number): void;
  close(): void;
}

export interface Surroundings {
  token: string;
  onRefused(): void;
  confirm(question: Confirm): Promise<boolean>;
}

/** A tab hidden for less than this keeps its streams. */
const HIDDEN_GRACE_MS = 3_000;
const NOTICE_MS = { info: 4_000, warn: 8_000, error: 12_000 } as const;
const MAX_NOTICES = 5;
/** Smaller differences are normal; beyond this the daemon's clock is used. */
const MAX_SKEW_MS = 10_000;

export function openApp({ token, onRefused, confirm }: Surroundings): Opened {
  const slots =
    "locks" in navigator
      ? new TabSlots(navigator.locks, documentVisibility(document, HIDDEN_GRACE_MS))
      : UNLIMITED;
  let skewMs = 0;
  const onTime = (daemonMs: number): void => {
    const ahead = daemonMs - Date.now();
    skewMs = Math.abs(ahead) > MAX_SKEW_MS ? ahead : 0;
  };
  const now = (): number => Date.now() + skewMs;
  const connection = { token, onRefused, onTime };
  const api = createApi(connection);
  const port = shareChanges(withSlots(createViewApi(connection), slots));
  const fleet = new Value(createFleet());
  const source = openFleet(port, (inputs) => fleet.set(applyChanges(fleet.get(), inputs)));
  const route = new Value<Route>(parseHash(location.hash));
  const onHash = (): void => {
    // Sign-in links are handled by main-app.ts.
    if (!isLink(location.hash)) route.set(parseHash(location.hash));
  };
  addEventListener("hashchange", onHash);
  const clock = new Value(now());
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") clock.set(now());
  }, 1_000);
  const notices = new Value<readonly Notice[]>([]);
  let lastNotice = 0;
  const dismiss = (id: number): void => notices.set(notices.get().filter((notice) => notice.id !== id));
  const notify = (level: Notice["level"], text: string): void => {
    lastNotice += 1;
    const notice = { id: lastNotice, level, text };
    notices.set([...notices.get(), notice].slice(-MAX_NOTICES));
    setTimeout(() => dismiss(notice.id), NOTICE_MS[level]);
  };
  const app: App = {
    api,
    port,
    fleet,
    route,
    clock,
    notices,
    now,
    navigate: (next) => {
      location.hash = toHash(next);
    },
    href: toHash,
    notify,
    fail: (error) => notify("error", error instanceof Error ? error.message : String(error)),
    confirm,
  };
  return {
    app,
    dismiss,
    close() {
      clearInterval(timer);
      removeEventListener("hashchange", onHash);
      void source.close();
    },
  };
}
