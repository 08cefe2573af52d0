// All routes, in the order of the documentation.
import type { Route } from "../route.ts";
import { CHANGE_ROUTES } from "./changes.ts";
import { CODEX_ROUTES } from "./codex.ts";
import { DAEMON_ROUTES } from "./daemon.ts";
import { EVENT_ROUTES } from "./events.ts";
import { FILE_ROUTES } from "./files.ts";
import { INPUT_ROUTES } from "./input.ts";
import { POLICY_ROUTES } from "./policy.ts";
import { QUOTA_ROUTES } from "./quota.ts";
import { REQUEST_ROUTES } from "./requests.ts";
import { SEARCH_ROUTES } from "./search.ts";
import { SESSION_ROUTES } from "./sessions.ts";
import { SETTING_ROUTES } from "./settings.ts";
import { TOOL_ROUTES } from "./tools.ts";
import { TRANSCRIPT_ROUTES } from "./transcripts.ts";
import { USAGE_ROUTES } from "./usage.ts";
import { WEB_ROUTES } from "./web.ts";
import { WORKTREE_ROUTES } from "./worktrees.ts";

export const ROUTES: readonly Route[] = [
  ...DAEMON_ROUTES,
  ...USAGE_ROUTES,
  ...SEARCH_ROUTES,
  ...QUOTA_ROUTES,
  ...SESSION_ROUTES,
  ...SETTING_ROUTES,
  ...TRANSCRIPT_ROUTES,
  ...INPUT_ROUTES,
  ...EVENT_ROUTES,
  ...CHANGE_ROUTES,
  ...FILE_ROUTES,
  ...REQUEST_ROUTES,
  ...POLICY_ROUTES,
  ...TOOL_ROUTES,
  ...WORKTREE_ROUTES,
  ...CODEX_ROUTES,
  ...WEB_ROUTES,
];
