// The real claude and codex without the daemon: each process is driven over its own protocol.
import { createInterface } from "node:readline";

/**
 * @typedef {{ deltaMs: number, totalMs: number }} Times from the user's message to the first text and to the end
 * @typedef {{ time(text: string): Promise<Times>, stop(): Promise<void> }} RawAgent
 * @typedef {{ program: string, cwd: string, env: NodeJS.ProcessEnv }} Launch
 */

const CLAUDE_ARGS = ["-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"];
const CODEX_THREAD = { sandbox: "read-only", approvalPolicy: "never" };

/**
 * @param {import("./workbench.mjs").Workbench} bench
 * @param {Launch} launch
 * @returns {Promise<RawAgent>}
 */
export async function startRawClaude(bench, launch) {
  const { send, until, stop } = startLines(bench, launch, [...CLAUDE_ARGS, "--include-partial-messages"]);
  return {
    async time(text) {
      const sent = performance.now();
      send({ type: "user", message: { role: "user", content: text } });
      await until((line) => line.includes('"text_delta"'));
      const deltaMs = performance.now() - sent;
      await until((line) => line.includes('"type":"result"'));
      return { deltaMs, totalMs: performance.now() - sent };
    },
    stop,
  };
}

/**
 * @param {import("./workbench.mjs").Workbench} bench
 * @param {Launch} launch
 * @returns {Promise<RawAgent>}
 */
export async function startRawCodex(bench, launch) {
  const { send, until, stop } = startLines(bench, launch, ["app-server"]);
  let id = 0;
  const request = async (/** @type {string} */ method, /** @type {object} */ params) => {
    id += 1;
    send({ id, method, params });
    const answer = JSON.parse(await until((line) => new RegExp(`"id":${id}\\b`).test(line)));
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  };
  await request("initialize", { clientInfo: { name: "bench", title: "bench", version: "1" } });
  send({ method: "initialized" });
  const { thread } = await request("thread/start", { ...CODEX_THREAD, cwd: launch.cwd });
  return {
    async time(text) {
      const sent = performance.now();
      // Not awaited: notifications may come before the answer.
      id += 1;
      send({ id, method: "turn/start", params: { threadId: thread.id, input: [{ type: "text", text }] } });
      await until((line) => line.includes('"item/agentMessage/delta"'));
      const deltaMs = performance.now() - sent;
      await until((line) => line.includes('"turn/completed"'));
      return { deltaMs, totalMs: performance.now() - sent };
    },
    stop,
  };
}

/**
 * @param {import("./workbench.mjs").Workbench} bench
 * @param {Launch} launch
 * @param {string[]} args
 */
function startLines(bench, { program, cwd, env }, args) {
  const child = bench.start(program, args, { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.on("error", () => {}); // it exited; until() reports it
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    send: (/** @type {object} */ message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    /** @param {(line: string) => boolean} wants */
    async until(wants) {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`${program} exited during a turn`);
        if (wants(value)) return value;
      }
    },
    stop: () => bench.stop(child),
  };
}
