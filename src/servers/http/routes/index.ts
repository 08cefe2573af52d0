// All routes, in the order of the documentation.
import type { Route } from "../route.ts";
import { CHANGE_ROUTES } from "./changes.ts";
import { CODEX_ROUTES } from "./codex.ts";
import { DAEMON_ROUTES } from "./daemon.ts";
import { EVENT_ROUTES } from "./events.ts";
import { INPUT_ROUTES } from "./input.ts";
import { POLICY_ROUTES } from "./policy.ts";
import { REQUEST_ROUTES } from "./requests.ts";
import { SESSION_ROUTES } from "./sessions.ts";
import { WEB_ROUTES } from "./web.ts";

export const ROUTES: readonly Route[] = [
  ...DAEMON_ROUTES,
  ...SESSION_ROUTES,
  ...INPUT_ROUTES,
  ...EVENT_ROUTES,
  ...CHANGE_ROUTES,
  ...REQUEST_ROUTES,
  ...POLICY_ROUTES,
  ...CODEX_ROUTES,
  ...WEB_ROUTES,
];
