// A client of the daemon's HTTP API on its Unix socket: one keep-alive connection, one request at a time.
import { Agent, request } from "node:http";

export class Http {
  #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #socketPath;

  /** @param {string} socketPath */
  constructor(socketPath) {
    this.#socketPath = socketPath;
  }

  /**
   * Returns the text of the reply; throws unless it is a success.
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @returns {Promise<string>}
   */
  async ask(method, path, body) {
    return Buffer.concat(await this.#send(method, path, body)).toString("utf8");
  }

  /**
   * Time from the first byte of the request to the last byte of the reply.
   * @param {string} path
   * @returns {Promise<number>} ms
   */
  async time(path) {
    const startedAt = performance.now();
    await this.#send("GET", path);
    return performance.now() - startedAt;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @returns {Promise<Buffer[]>}
   */
  #send(method, path, body) {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const place = { socketPath: this.#socketPath, agent: this.#agent };
    return new Promise((resolve, reject) => {
      const outgoing = request({ ...place, method, path, headers });
      outgoing.once("error", reject);
      outgoing.once("response", (response) => {
        /** @type {Buffer[]} */
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.once("error", reject);
        response.once("end", () => {
          const status = response.statusCode ?? 0;
          if (status < 300) resolve(chunks);
          else reject(new Error(`${method} ${path}: ${status} ${Buffer.concat(chunks)}`));
        });
      });
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  close() {
    this.#agent.destroy();
  }
}
