// A terminal for a test: tmux with its own server, so nothing of the user's is touched. The screen is read as text.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, vi } from "vitest";
import { PATIENCE_MS } from "./patience.ts";

export interface TerminalOptions {
  command: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  columns?: number;
  rows?: number;
  /** Where screens are saved for inspection; absent: nowhere. */
  saveTo?: string;
}

const CONFIG = `
set -g default-terminal screen-256color
set -g escape-time 0
set -g remain-on-exit on
set -g history-limit 10000
`;

/** Undefined if tmux is not installed. */
export function tmuxVersion(): string | undefined {
  const found = spawnSync("tmux", ["-V"], { encoding: "utf8" });
  return found.status === 0 ? found.stdout.trim() : undefined;
}

export class TmuxTerminal {
  readonly #directory = mkdtempSync(join(tmpdir(), "blemees-tmux-"));
  readonly #saveTo: string | undefined;
  #saved = 0;

  constructor({ command, env, cwd, columns = 80, rows = 24, saveTo }: TerminalOptions) {
    this.#saveTo = saveTo;
    // The test decides what is drawn, not the environment it runs in.
    const clean = { PATH: process.env["PATH"] ?? "", LANG: "C.UTF-8", ...env };
    const config = join(this.#directory, "conf");
    writeFileSync(config, CONFIG);
    const settings = Object.entries(clean).map(([key, value]) => `${key}=${value}`);
    const size = ["-x", String(columns), "-y", String(rows)];
    const program = ["env", "-i", "TERM=screen-256color", ...settings, ...command];
    this.#tmux(["-f", config, "new-session", "-d", ...size, "-c", cwd, ...program]);
  }

  /** The screen, without blanks at the ends of lines. */
  screen(): string {
    return this.#tmux(["capture-pane", "-p"]).replace(/[ \t]+$/gm, "");
  }

  /** The same with the colours and attributes. */
  styled(): string {
    return this.#tmux(["capture-pane", "-p", "-e"]);
  }

  /** Keys by tmux's names: "Enter", "C-c", "M-Enter", "F1", "PageUp". */
  press(...keys: string[]): void {
    this.#tmux(["send-keys", ...keys]);
  }

  type(text: string): void {
    this.#tmux(["send-keys", "-l", text]);
  }

  /** As a terminal's mouse or menu does it: bracketed, if the program asked for that. */
  paste(text: string): void {
    execFileSync("tmux", ["-S", this.#socket, "load-buffer", "-"], { input: text });
    this.#tmux(["paste-buffer", "-p"]);
  }

  resize(columns: number, rows: number): void {
    this.#tmux(["resize-window", "-x", String(columns), "-y", String(rows)]);
  }

  /** Waits until the screen shows it; returns the screen. */
  async until(wanted: string | RegExp, timeout = PATIENCE_MS): Promise<string> {
    return vi.waitFor(
      () => {
        const screen = this.screen();
        if (typeof wanted === "string") expect(screen).toContain(wanted);
        else expect(screen).toMatch(wanted);
        return screen;
      },
      { timeout, interval: 30 },
    );
  }

  async untilGone(unwanted: string | RegExp, timeout = PATIENCE_MS): Promise<string> {
    return vi.waitFor(
      () => {
        const screen = this.screen();
        if (typeof unwanted === "string") expect(screen).not.toContain(unwanted);
        else expect(screen).not.toMatch(unwanted);
        return screen;
      },
      { timeout, interval: 30 },
    );
  }

  /** The program's exit code, once it has ended. */
  async ended(): Promise<number> {
    return vi.waitFor(
      () => {
        const [isDead, status = "", server] = this.ask("#{pane_dead},#{pane_dead_status},#{pid}").split(",");
        // tmux 3.3 sometimes misses that a program has ended and leaves it a zombie: SIGCHLD makes it look again.
        if (isDead === "1" && status === "") process.kill(Number(server), "SIGCHLD");
        expect([isDead, status], this.screen()).toEqual(["1", expect.stringMatching(/^\d+$/)]);
        return Number(status);
      },
      { timeout: PATIENCE_MS, interval: 30 },
    );
  }

  /** A tmux format of the pane: "#{pane_title}", "#{alternate_on}", "#{cursor_x}". */
  ask(format: string): string {
    return this.#tmux(["display", "-p", format]).trim();
  }

  get pid(): number {
    return Number(this.ask("#{pane_pid}"));
  }

  /** Saves the screen for inspection. */
  save(name: string): void {
    if (this.#saveTo === undefined) return;
    this.#saved += 1;
    const file = join(this.#saveTo, `${String(this.#saved).padStart(2, "0")}-${name}.txt`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, this.screen());
  }

  close(): void {
    spawnSync("tmux", ["-S", this.#socket, "kill-server"]);
    rmSync(this.#directory, { recursive: true, force: true });
  }

  get #socket(): string {
    return join(this.#directory, "s");
  }

  #tmux(args: readonly string[]): string {
    return execFileSync("tmux", ["-S", this.#socket, ...args], { encoding: "utf8" });
  }
}
