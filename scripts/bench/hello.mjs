// Says hello to a target: the sign that it has started.
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export const HELLO = '{"type":"blemeesd.hello","client":"bench/1","protocol":"blemees/2"}\n';

/**
 * False, after a millisecond, if nothing listens yet.
 * @param {string} socketPath
 */
export async function isAnswering(socketPath) {
  const socket = connect(socketPath);
  try {
    await once(socket, "connect");
    socket.write(HELLO);
    const [chunk] = await once(socket, "data");
    return chunk.includes('"blemeesd.hello_ack"');
  } catch {
    await sleep(1); // ENOENT or ECONNREFUSED; the caller watches the clock and the process
    return false;
  } finally {
    socket.destroy();
  }
}
