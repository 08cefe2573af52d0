// Reads the login from Codex's keyring entry or auth.json, and writes it back after a renewal. Never creates one.
import { constants, readFileSync, statSync } from "node:fs";
import { access, open, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { CodedError, readErrno, toMessage } from "../../../base/coded-error.ts";
import { replaceWhole } from "../../../base/private-file.ts";
import type { CodexConfig } from "../registry-types.ts";
import { type Login, readAuthJson, type Stored } from "./auth-json.ts";
import { KEYRING_SERVICE, type Keyring, makeKeyringAccount } from "./keyring.ts";

/** Codex writes its file in place, so a read may see half of it. */
const REREADS = 5;
const REREAD_MS = 20;

export interface AuthStoreOptions {
  /** Real path. */
  codexHome: string;
  authStore: CodexConfig["authStore"];
  keyring?: Keyring | undefined;
}

/** "replaced": the user logged in meanwhile, and that login stays. With a problem, the login is kept in memory. */
export type SaveResult = "saved" | "replaced" | { problem: string };

export class AuthStore {
  readonly #options: AuthStoreOptions;
  /** Cached until a renewal, because reading may prompt the user. */
  #fromKeyring: { stored: Stored | undefined } | undefined;
  /** A login that could not be stored, and the access token that it replaces. */
  #unsaved: { login: Login; instead: string } | undefined;
  #from: "file" | "keyring" = "file";

  constructor(options: AuthStoreOptions) {
    this.#options = options;
  }

  get file(): string {
    return getAuthFile(this.#options.codexHome);
  }

  /** A read-only login must not be renewed: that would invalidate it for other programs. Undefined if it is writable. */
  async explainReadOnly(login: Login): Promise<string | undefined> {
    // A login that was never stored is ours alone.
    if (this.#unsaved?.login === login) return undefined;
    if (this.#from === "keyring") {
      return this.#options.keyring?.write === undefined ? "its keyring is read-only here" : undefined;
    }
    const path = await realpath(this.file).catch(() => this.file);
    const canWrite = (await isWritable(path)) || (await isWritable(dirname(path)));
    return canWrite ? undefined : `${this.file} is not writable`;
  }

  /** Reads the stored login; `fresh` bypasses the keyring cache. Throws `bad_login`. */
  async load({ fresh = false } = {}): Promise<Stored | undefined> {
    const stored = await this.#find(fresh);
    const unsaved = this.#unsaved;
    if (unsaved === undefined) return stored;
    // A newer login by the user wins.
    return hasAccessToken(stored, unsaved.instead) ? { login: unsaved.login } : stored;
  }

  /** Stores a renewed login in place of `before`, unless another one was stored meanwhile. */
  async save(login: Login, before: Login): Promise<SaveResult> {
    const instead =
      this.#unsaved?.login.accessToken === before.accessToken ? this.#unsaved.instead : before.accessToken;
    try {
      const stored = await this.#find(true);
      if (stored !== undefined && !hasAccessToken(stored, instead)) return "replaced";
      await (this.#from === "file" ? this.#writeFile(login) : this.#writeKeyring(login));
      this.#unsaved = undefined;
      return "saved";
    } catch (error) {
      this.#unsaved = { login, instead };
      const where = this.#from === "file" ? this.file : "the keyring";
      const problem = `the Codex login was renewed but could not be written to ${where} (${toMessage(error)}); it is valid for this process only, and the stored one no longer works: log in again with \`codex login\` after this session`;
      return { problem };
    }
  }

  async #find(fresh: boolean): Promise<Stored | undefined> {
    const { authStore, keyring } = this.#options;
    if (authStore !== "file" && keyring !== undefined) {
      if (fresh) this.#fromKeyring = undefined;
      this.#fromKeyring ??= { stored: await this.#readKeyring(keyring) };
      if (this.#fromKeyring.stored !== undefined) {
        this.#from = "keyring";
        return this.#fromKeyring.stored;
      }
    }
    if (authStore === "keyring") return undefined;
    this.#from = "file";
    return this.#readFile();
  }

  /** Like Codex, "auto" ignores a keyring that fails. */
  async #readKeyring(keyring: Keyring): Promise<Stored | undefined> {
    try {
      const text = await keyring.read(KEYRING_SERVICE, makeKeyringAccount(this.#options.codexHome));
      return text === undefined ? undefined : readAuthJson(text, `the keyring entry "${KEYRING_SERVICE}"`);
    } catch (cause) {
      if (this.#options.authStore === "auto") return undefined;
      if (cause instanceof CodedError) throw cause;
      throw new CodedError("bad_login", `cannot read the keyring: ${toMessage(cause)}`, { cause });
    }
  }

  async #readFile(): Promise<Stored | undefined> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return readAuthJson(await readFile(this.file, "utf8"), this.file);
      } catch (error) {
        if (readErrno(error) === "ENOENT") return undefined;
        if (!(error instanceof CodedError)) throw createReadError(this.file, error);
        if (attempt >= REREADS) throw error;
        await wait(REREAD_MS);
      }
    }
  }

  /** Writes with mode 0600. Links are followed: users share a login between homes. */
  async #writeFile({ whole }: Login): Promise<void> {
    const path = await realpath(this.file);
    const text = JSON.stringify(whole, null, 2);
    await replaceFile(path, text).catch(async (error: unknown) => {
      // A file that is a mount point, or in a directory of another user, can only be overwritten; but not on a full disk.
      if (["ENOSPC", "EDQUOT"].includes(readErrno(error) ?? "")) throw error;
      await overwriteFile(path, text).catch(() => {
        throw error;
      });
    });
  }

  async #writeKeyring(login: Login): Promise<void> {
    const { keyring, codexHome } = this.#options;
    if (keyring?.write === undefined) throw new Error("the keyring is read-only");
    await keyring.write(KEYRING_SERVICE, makeKeyringAccount(codexHome), JSON.stringify(login.whole));
    this.#fromKeyring = { stored: { login } };
  }
}

/** Reads the file synchronously, for a check before the first request. Throws `bad_login`. */
export function peekAuthFile(codexHome: string): Stored | undefined {
  const file = getAuthFile(codexHome);
  try {
    // Reading a pipe would block.
    if (!statSync(file).isFile()) throw createReadError(file, new Error("not a regular file"));
    return readAuthJson(readFileSync(file, "utf8"), file);
  } catch (error) {
    if (readErrno(error) === "ENOENT" || readErrno(error) === "ENOTDIR") return undefined;
    throw error instanceof CodedError ? error : createReadError(file, error);
  }
}

/** Atomic. As root, the file stays owned by the user. */
async function replaceFile(path: string, text: string): Promise<void> {
  const { uid, gid } = await stat(path);
  await replaceWhole(path, text, async (file) => {
    if (uid !== process.getuid?.()) await file.chown(uid, gid);
  });
}

async function overwriteFile(path: string, text: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.chmod(0o600).catch(() => undefined); // The file may belong to another user.
    await file.writeFile(text);
    await file.truncate(Buffer.byteLength(text));
    await file.sync();
  } finally {
    await file.close();
  }
}

function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

function hasAccessToken(stored: Stored | undefined, accessToken: string): boolean {
  return stored !== undefined && "login" in stored && stored.login.accessToken === accessToken;
}

export function getAuthFile(codexHome: string): string {
  return join(codexHome, "auth.json");
}

function createReadError(file: string, cause: unknown): CodedError {
  return new CodedError("bad_login", `cannot read ${file}: ${toMessage(cause)}`, { cause });
}
