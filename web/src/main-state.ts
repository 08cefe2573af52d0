// What the page holds for all its elements: the client, the sessions, where we are, and what is told to the person.

import { applyChanges, emptyFleet } from "../../src/client/view/fleet.ts";
import { openFleet } from "../../src/client/view/fleet-source.ts";
import { shareChanges } from "../../src/client/view/share.ts";
import { WebClient } from "./api/client.ts";
import { documentVisibility, TabSlots, UNLIMITED } from "./api/slots.ts";
import { Value } from "./api/store.ts";
import type { App, Confirm, Notice, Route } from "./app-types.ts";
import { isLink } from "./auth.ts";
import { hashOf, parseHash } from "./router.ts";

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

/** A tab that is hidden for less than this keeps its streams. */
const HIDDEN_GRACE_MS = 3_000;
const NOTICE_MS = { info: 4_000, warn: 8_000, error: 12_000 } as const;
const MAX_NOTICES = 5;
/** The clocks of two machines differ by less, and so does a slow network; behind that the daemon's counts. */
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
  const api = new WebClient({ token, onRefused, onTime, slots });
  const port = shareChanges(api);
  const fleet = new Value(emptyFleet());
  const source = openFleet(port, (inputs) => fleet.set(applyChanges(fleet.get(), inputs)));
  const route = new Value<Route>(parseHash(location.hash));
  const onHash = (): void => {
    // A link is main-app.ts's, and leads nowhere else.
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
      location.hash = hashOf(next);
    },
    href: hashOf,
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
