// The keyring of the system, where Codex may keep its login instead of in a file. An adapter reads it; one that cannot
// write is no reason to lose a renewed login silently.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";

export const KEYRING_SERVICE = "Codex Auth";

export interface Keyring {
  /** Undefined: there is no such entry. */
  read(service: string, account: string): Promise<string | undefined>;
  /** Only where it is safe: the secret in no argument of a program. */
  write?(service: string, account: string, secret: string): Promise<void>;
}

/** The name of Codex's entry; `codexHome` is its real path. */
export function keyringAccount(codexHome: string): string {
  return `cli|${createHash("sha256").update(codexHome).digest("hex").slice(0, 16)}`;
}

/** Undefined: none is built in for this system. */
export function platformKeyring(platform: NodeJS.Platform = process.platform): Keyring | undefined {
  return platform === "darwin" ? BUILT_IN : undefined;
}

/** One for all: who shares a login goes by it (refresh.ts). Without `write`: macOS's program takes a secret as an argument. */
const BUILT_IN: Keyring = {
  read: (service, account) => readMacEntry("/usr/bin/security", service, account),
};

/** `program`: macOS's `security`. */
export function readMacEntry(program: string, service: string, account: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const args = ["find-generic-password", "-s", service, "-a", account, "-w"];
    execFile(program, args, { timeout: 60_000, maxBuffer: 1_048_576 }, (error, stdout) => {
      if (error === null) resolve(asText(stdout.trim()));
      // 44 is errSecItemNotFound.
      else if (error.code === 44) resolve(undefined);
      else reject(new Error(`${program} failed (${error.code ?? error.signal ?? "unknown"})`));
    });
  });
}

/** It writes what is not plain ASCII in hexadecimal digits. */
function asText(said: string): string {
  return /^(?:[0-9a-f]{2})+$/i.test(said) ? Buffer.from(said, "hex").toString("utf8") : said;
}
