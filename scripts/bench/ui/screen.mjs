// A terminal that runs a program, for a measure: tmux with its own server.
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 20_000;
const POLL_MS = 4;
const SETTLED_MS = 30;

export const HAS_TMUX = spawnSync("tmux", ["-V"]).status === 0;

export class TerminalScreen {
  #socket;

  /**
   * @param {string} directory for tmux's own files
   * @param {readonly string[]} command
   * @param {Record<string, string | undefined>} env
   * @param {{ columns: number, rows: number }} size
   */
  constructor(directory, command, env, { columns, rows }) {
    this.#socket = join(directory, "t");
    const config = join(directory, "tmux.conf");
    writeFileSync(config, "set -g default-terminal screen-256color\nset -g escape-time 0\n");
    const size = ["-x", String(columns), "-y", String(rows)];
    const options = { env: { ...env, TERM: "screen-256color", LANG: "C.UTF-8" } };
    execFileSync(
      "tmux",
      ["-S", this.#socket, "-f", config, "new-session", "-d", ...size, ...command],
      options,
    );
  }

  get pid() {
    return Number(this.#tmux("display", "-p", "#{pane_pid}"));
  }

  text({ colors = false } = {}) {
    return this.#tmux("capture-pane", "-p", ...(colors ? ["-e"] : []));
  }

  /**
   * The complete screen: tmux may show a partly read update.
   * @returns {Promise<string>}
   */
  async settled() {
    for (let before = this.text(); ; ) {
      await sleep(SETTLED_MS);
      const now = this.text();
      if (now === before) return now;
      before = now;
    }
  }

  /** @param {string[]} keys by tmux's names */
  press(...keys) {
    this.#tmux("send-keys", ...keys);
  }

  /** @param {string} text */
  type(text) {
    this.#tmux("send-keys", "-l", text);
  }

  /**
   * @param {(screen: string) => boolean} wants
   * @param {string} what for the error
   * @returns {Promise<string>}
   */
  async until(wants, what) {
    const endAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const screen = this.text();
      if (wants(screen)) return screen;
      if (performance.now() > endAt) throw new Error(`${what}; the screen is:\n${screen}`);
      await sleep(POLL_MS);
    }
  }

  close() {
    spawnSync("tmux", ["-S", this.#socket, "kill-server"]);
  }

  /** @param {string[]} args */
  #tmux(...args) {
    return execFileSync("tmux", ["-S", this.#socket, ...args], { encoding: "utf8" });
  }
}
