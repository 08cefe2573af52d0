// The UIs under a flood: a session with many events per second in the terminal UI, then in a real browser. What this
// machine lacks (tmux, Chromium) is skipped with a message.
import { join } from "node:path";
import { Http } from "../http.mjs";
import { IS_LINUX } from "../proc.mjs";
import { startDaemon } from "../targets.mjs";
import { HAS_BROWSER, measurePage } from "../ui/page.mjs";
import { HAS_TMUX } from "../ui/screen.mjs";
import { measureTerminal } from "../ui/terminal.mjs";

const AGENT = join(import.meta.dirname, "../ui/agent.mjs");

/** @param {import("../plan.mjs").Context} context */
export async function ui(context) {
  const { progress, plan } = context;
  const what = `${plan.faceEvents} events at ${plan.faceRate}/s`;
  const rows = [];
  if (HAS_TMUX && IS_LINUX) {
    progress(`${what} in the terminal`);
    rows.push(...(await withSession(context, measureTerminal)));
  } else progress("tmux not found; skipping the terminal UI");
  if (HAS_BROWSER) {
    progress(`${what} in the browser`);
    rows.push(...(await withSession(context, measurePage)));
  } else progress("Chromium not found; skipping the dashboard");
  return rows;
}

/**
 * @typedef {object} Stage
 * @property {string} socketPath
 * @property {string} directory
 * @property {string} session_id
 * @property {Http} http
 * @property {() => Promise<void>} begin starts the flood
 * @property {import("../plan.mjs").Plan} plan
 */

/**
 * @param {import("../plan.mjs").Context} context
 * @param {(stage: Stage) => Promise<import("../table.mjs").Row[]>} measure
 */
async function withSession(context, measure) {
  const { bench, plan } = context;
  const directory = bench.makeDirectory();
  const env = { BLEMEESD_CLAUDE: AGENT, BLEMEESD_SHUTDOWN_GRACE: "0" };
  const daemon = await startDaemon(context, "durable", { directory, env });
  const http = new Http(daemon.socketPath);
  try {
    const spawned = JSON.parse(
      await http.ask("POST", "/sessions", { backend: "claude", name: "flood", approvals: false }),
    );
    const { session_id } = spawned.session;
    const begin = async () => {
      await http.ask("POST", `/sessions/${session_id}/input`, {
        text: `pace ${plan.faceRate} ${plan.faceEvents}`,
      });
    };
    return await measure({ socketPath: daemon.socketPath, directory, session_id, http, begin, plan });
  } finally {
    http.close();
    await daemon.stop();
  }
}
