// The loopback port, kept in the state directory so that the next daemon opens the same one and open tabs of the dashboard
// reconnect to it. A daemon that is stopped together with its agents forgets it.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";

const PORT = /^[1-9]\d{0,4}$/;
const MAX_PORT = 65_535;

export interface KeptPort {
  /** Undefined if there is none, or the file is unusable. */
  read(): number | undefined;
  keep(port: number): void;
  forget(): void;
}

export function createKeptPort(file: string, log: Log): KeptPort {
  // A failure costs only the reconnect of open tabs.
  const attempt = (change: () => void): void => {
    try {
      change();
    } catch (error) {
      log.warn("http.port_not_kept", { message: toMessage(error) });
    }
  };
  return {
    read() {
      const text = readText(file).trim();
      return PORT.test(text) && Number(text) <= MAX_PORT ? Number(text) : undefined;
    },
    keep(port) {
      attempt(() => {
        const draft = `${file}.new`;
        writeFileSync(draft, `${port}\n`, { mode: 0o600 });
        renameSync(draft, file);
      });
    },
    forget() {
      attempt(() => rmSync(file, { force: true }));
    },
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
