// The system's keyring, where Codex may store its login instead of a file.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";

export const KEYRING_SERVICE = "Codex Auth";

export interface Keyring {
  /** Undefined if there is no such entry. */
  read(service: string, account: string): Promise<string | undefined>;
  /** Absent if writing would pass the secret as a program argument. */
  write?(service: string, account: string, secret: string): Promise<void>;
}

/** Name of Codex's entry; `codexHome` is a real path. */
export function makeKeyringAccount(codexHome: string): string {
  return `cli|${createHash("sha256").update(codexHome).digest("hex").slice(0, 16)}`;
}

/** Undefined if this system is not supported. */
export function getPlatformKeyring(platform: NodeJS.Platform = process.platform): Keyring | undefined {
  return platform === "darwin" ? BUILT_IN : undefined;
}

/** One instance, because shared logins compare it (refresh.ts). No `write`: macOS's program takes the secret as an argument. */
const BUILT_IN: Keyring = {
  read: (service, account) => readMacEntry("/usr/bin/security", service, account),
};

/** `program`: macOS's `security`. */
export function readMacEntry(program: string, service: string, account: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const args = ["find-generic-password", "-s", service, "-a", account, "-w"];
    execFile(program, args, { timeout: 60_000, maxBuffer: 1_048_576 }, (error, stdout) => {
      if (error === null) resolve(decodeHex(stdout.trim()));
      // 44 is errSecItemNotFound.
      else if (error.code === 44) resolve(undefined);
      else reject(new Error(`${program} failed (${error.code ?? error.signal ?? "unknown"})`));
    });
  });
}

/** `security` prints text that is not plain ASCII in hex. */
function decodeHex(said: string): string {
  return /^(?:[0-9a-f]{2})+$/i.test(said) ? Buffer.from(said, "hex").toString("utf8") : said;
}
