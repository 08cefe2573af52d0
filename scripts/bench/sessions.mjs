// A plain client of the daemon for measures that need sessions and turns but no speed.
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";

/**
 * @param {string} socketPath
 * @returns a connection that has said hello
 */
export async function connectTo(socketPath) {
  const socket = connect(socketPath);
  await once(socket, "connect");
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const send = (/** @type {object} */ frame) => socket.write(`${JSON.stringify(frame)}\n`);
  /** @param {string} type */
  const until = async (type) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the daemon closed the connection before ${type}`);
      const frame = JSON.parse(value);
      if (frame.type === "blemeesd.error") throw new Error(`${frame.code}: ${frame.message}`);
      if (frame.type === type) return frame;
    }
  };
  send({ type: "blemeesd.hello", client: "bench/1", protocol: "blemees/2" });
  await until("blemeesd.hello_ack");
  return {
    /**
     * @param {string} session_id
     * @param {string} backend
     * @param {object} options
     */
    open(session_id, backend, options) {
      send({ type: "blemeesd.open", session_id, backend, options: { [backend]: options } });
      return until("blemeesd.opened");
    },
    /**
     * @param {string} session_id
     * @param {string} content
     * @returns {Promise<import("./raw-agents.mjs").Times>}
     */
    async turn(session_id, content) {
      const sent = performance.now();
      send({ type: "agent.user", session_id, message: { role: "user", content } });
      await until("agent.delta");
      const deltaMs = performance.now() - sent;
      const result = await until("agent.result");
      if (result.subtype !== "success") throw new Error(`a turn failed: ${JSON.stringify(result.error)}`);
      return { deltaMs, totalMs: performance.now() - sent };
    },
    close: () => void socket.destroy(),
  };
}
