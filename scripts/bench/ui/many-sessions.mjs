// Sessions and requests for the `fleet` measure: 20 projects, families, labels, archived and failed ones; every second
// request is for the same command as others of its project, and every tenth is a long diff.

const START_MS = 1_700_000_000_000;
const STATES = ["idle", "idle", "working", "stopped", "idle"];
const CHOICES = [{ decision: "accept" }, { decision: "decline", takes: ["message"] }, { decision: "cancel" }];

/**
 * @typedef {{ sessions: Map<string, any>, requests: Map<string, any>, link: { state: string } }} Fleet
 *
 * @param {number} sessionCount
 * @param {number} requestCount
 * @returns {Fleet}
 */
export function aFleet(sessionCount, requestCount) {
  const sessions = Array.from({ length: sessionCount }, (_, at) => aSession(at, at < requestCount));
  const requests = Array.from({ length: requestCount }, (_, at) => aRequest(at));
  return {
    sessions: new Map(sessions.map((session) => [session.session_id, session])),
    requests: new Map(requests.map((request) => [request.request_id, request])),
    link: { state: "live" },
  };
}

/**
 * One session does something.
 * @param {Fleet} fleet
 * @param {number} at
 * @returns {Fleet}
 */
export function changeSession(fleet, at) {
  const sessions = new Map(fleet.sessions);
  const session_id = `session-${at % sessions.size}`;
  const last_active_at_ms = START_MS + 1e6 + at * 1000;
  sessions.set(session_id, { ...sessions.get(session_id), last_active_at_ms });
  return { ...fleet, sessions };
}

/**
 * @param {number} at
 * @param {boolean} isWaiting
 */
function aSession(at, isWaiting) {
  const activity_state = isWaiting ? "waiting_permission" : STATES[at % STATES.length];
  const isBusy = isWaiting || activity_state === "working";
  return {
    session_id: `session-${at}`,
    backend: "claude",
    provider: "claude",
    name: `agent ${at} on a task with a name of usual length`,
    cwd: `/home/me/src/project-${at % 20}`,
    project: `/home/me/src/project-${at % 20}`,
    ...(at % 3 === 0 ? { labels: ["ui", `sprint-${at % 7}`] } : {}),
    ...(at % 4 === 3 && at > 20 ? { parent: `session-${at - 20}` } : {}),
    ...(!isWaiting && at % 11 === 0 ? { archived_at_ms: START_MS } : {}),
    ...(!isBusy && at % 13 === 0 ? { failed: true } : {}),
    ...(isBusy ? { turn: { turn_id: `turn-${at}`, started_at_ms: START_MS } } : {}),
    children: [],
    managed: true,
    activity_state,
    attached: false,
    running: isBusy,
    stalled: false,
    pending_requests: isWaiting ? 1 : 0,
    family_pending_requests: isWaiting ? 1 : 0,
    queued: 0,
    turns: 3,
    usage: { input_tokens: 10_000, output_tokens: 900 },
    context_tokens: 8_000,
    cost_usd: at / 100,
    last_action: { summary_text: `ran \`npm test -- part-${at}\`` },
    started_at_ms: START_MS + at * 1000,
    last_active_at_ms: START_MS + at * 1000,
    last_seq: 100,
  };
}

/** @param {number} at */
function aRequest(at) {
  const isDiff = at % 10 === 9;
  const command = at % 2 === 0 ? "npm test" : `npm run build -- --part ${at}`;
  const path = `/home/me/src/project-${at % 20}/src/table.ts`;
  return {
    request_id: `req_${at}`,
    session_id: `session-${at}`,
    backend: "claude",
    request_type: isDiff ? "file_change" : "command",
    status: "pending",
    payload: {
      title: isDiff ? `Edit: ${path}` : `Bash: ${command}`,
      tool_name: isDiff ? "Edit" : "Bash",
      ...(isDiff ? { changes: [{ path, kind: "update", diff: aLongDiff() }] } : { command }),
      choices: CHOICES,
    },
    shown_hash: `hash ${at}`,
    requested_at_ms: START_MS + at,
    generation: "g1",
  };
}

/** 200 lines, each changed in one word. */
function aLongDiff() {
  const lines = (/** @type {string} */ sign, /** @type {string} */ word) =>
    Array.from({ length: 200 }, (_, at) => `${sign}  row(${at}, "${word} value ${at}");`);
  return `@@ -1,200 +1,200 @@\n${[...lines("-", "old"), ...lines("+", "new")].join("\n")}\n`;
}
