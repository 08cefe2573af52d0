// Shows agents: their state, what they did, what they changed, and what they ask.
import type * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import { findSession } from "./find.ts";
import type { INPUTS } from "./inputs.ts";
import { toBrief, toBriefAction, toBriefRequest } from "./shapes.ts";
import type { ToolContext } from "./types.ts";

const MAX_SESSIONS = 50;
const MAX_ACTIONS = 30;
const MAX_FILES = 200;
const MAX_REQUESTS = 20;

export async function lookAt(input: z.infer<typeof INPUTS.look>, context: ToolContext): Promise<object> {
  const { id, show = "status", path } = input;
  const { manager, self } = context;
  if (path !== undefined && show !== "diff")
    throw new CodedError("invalid_message", "path: only with show: diff");
  if (show === "requests") return listRequests(id, context);
  if (id === undefined) {
    if (show !== "status") throw new CodedError("invalid_message", `id: required for show: ${show}`);
    const parent = self === undefined ? {} : { parent: self };
    const { sessions } = await manager.views({ ...parent, limit: MAX_SESSIONS });
    return { sessions: sessions.map(toBrief) };
  }
  const session = await findSession(context, id);
  if (show === "diff") return showChanges(session.session_id, path, context);
  if (show === "status") return toBrief(session);
  const actions = await manager.actions(session.session_id, MAX_ACTIONS);
  return { session: toBrief(session), actions: actions.toReversed().map(toBriefAction) };
}

async function listRequests(id: string | undefined, context: ToolContext): Promise<object> {
  const { manager, self } = context;
  const root = id === undefined ? self : (await findSession(context, id)).session_id;
  const scope = root === undefined ? {} : { session_id: root, tree: true };
  const { requests } = await manager.requests({ ...scope, limit: MAX_REQUESTS });
  return { requests: requests.map(toBriefRequest) };
}

async function showChanges(
  session_id: string,
  path: string | undefined,
  { manager }: ToolContext,
): Promise<object> {
  if (path === undefined) {
    const { state, reason, files, totals } = await manager.changes(session_id, { limit: MAX_FILES });
    return { state, ...(reason === undefined ? {} : { reason }), files, totals };
  }
  const { hunks, ...file } = await manager.fileChanges(session_id, { path });
  return { ...file, diff: hunks.map(formatHunk).join("") };
}

const SIGNS = { context: " ", add: "+", delete: "-" } as const;

function formatHunk({ old_start, new_start, lines }: Hunk): string {
  const body = lines.map(({ kind, text }) => `${SIGNS[kind]}${text}\n`).join("");
  return `@@ -${old_start} +${new_start} @@\n${body}`;
}

type Hunk = Awaited<ReturnType<ToolContext["manager"]["fileChanges"]>>["hunks"][number];
