// Where the login is found and kept: Codex's keyring entry or its auth.json. Reads what is there now; never makes up a
// login, and writes nothing but a renewed one.
import { randomUUID } from "node:crypto";
import { constants, readFileSync, statSync } from "node:fs";
import { access, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { CodedError, errnoOf, messageOf } from "../../../base/coded-error.ts";
import type { CodexConfig } from "../registry-types.ts";
import { type Login, readAuthJson, type Stored } from "./auth-json.ts";
import { KEYRING_SERVICE, type Keyring, keyringAccount } from "./keyring.ts";

/** Codex writes its file in place: who reads in that moment sees half of it. */
const REREADS = 5;
const REREAD_MS = 20;

export interface StoreOrder {
  /** Its real path. */
  codexHome: string;
  authStore: CodexConfig["authStore"];
  keyring?: Keyring | undefined;
}

/** "replaced": somebody logged in meanwhile, and that login stays. A problem: it is kept in memory. */
export type Kept = "kept" | "replaced" | { problem: string };

export class AuthStore {
  readonly #order: StoreOrder;
  /** A program is asked for it, maybe a person: once is enough until it is renewed. */
  #fromKeyring: { stored: Stored | undefined } | undefined;
  /** What could not be stored, and the access token that it replaces. */
  #unsaved: { login: Login; instead: string } | undefined;
  #from: "file" | "keyring" = "file";

  constructor(order: StoreOrder) {
    this.#order = order;
  }

  get file(): string {
    return authFile(this.#order.codexHome);
  }

  /** What can only be read must not be renewed: that would use it up for everybody else. Undefined: it can be written. */
  async whyReadOnly(login: Login): Promise<string | undefined> {
    // One that never was stored is nobody else's.
    if (this.#unsaved?.login === login) return undefined;
    if (this.#from === "keyring") {
      return this.#order.keyring?.write === undefined ? "its keyring can only be read here" : undefined;
    }
    const path = await realpath(this.file).catch(() => this.file);
    const canWrite = (await isWritable(path)) || (await isWritable(dirname(path)));
    return canWrite ? undefined : `${this.file} cannot be written here`;
  }

  /** What is stored now. Undefined: nothing. `fresh`: the keyring is asked again. Throws `bad_login`. */
  async load({ fresh = false } = {}): Promise<Stored | undefined> {
    const stored = await this.#find(fresh);
    const unsaved = this.#unsaved;
    if (unsaved === undefined) return stored;
    // Whoever logged in anew since then wins.
    return holds(stored, unsaved.instead) ? { login: unsaved.login } : stored;
  }

  /** Keeps a renewed login in place of `before`, and of no other. */
  async keep(login: Login, before: Login): Promise<Kept> {
    const instead =
      this.#unsaved?.login.accessToken === before.accessToken ? this.#unsaved.instead : before.accessToken;
    try {
      const stored = await this.#find(true);
      if (stored !== undefined && !holds(stored, instead)) return "replaced";
      await (this.#from === "file" ? this.#writeFile(login) : this.#writeKeyring(login));
      this.#unsaved = undefined;
      return "kept";
    } catch (error) {
      this.#unsaved = { login, instead };
      const where = this.#from === "file" ? this.file : "the keyring";
      const problem = `the login of Codex was renewed, but ${where} cannot be written (${messageOf(error)}): it holds for this process only, and the one that is stored is used up; log in again with \`codex login\` when this session is over`;
      return { problem };
    }
  }

  async #find(fresh: boolean): Promise<Stored | undefined> {
    const { authStore, keyring } = this.#order;
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

  /** As Codex does: with "auto" a keyring that fails is none. */
  async #readKeyring(keyring: Keyring): Promise<Stored | undefined> {
    try {
      const text = await keyring.read(KEYRING_SERVICE, keyringAccount(this.#order.codexHome));
      return text === undefined
        ? undefined
        : readAuthJson(text, `the entry "${KEYRING_SERVICE}" of the keyring`);
    } catch (cause) {
      if (this.#order.authStore === "auto") return undefined;
      if (cause instanceof CodedError) throw cause;
      throw new CodedError("bad_login", `the keyring cannot be read: ${messageOf(cause)}`, { cause });
    }
  }

  async #readFile(): Promise<Stored | undefined> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return readAuthJson(await readFile(this.file, "utf8"), this.file);
      } catch (error) {
        if (errnoOf(error) === "ENOENT") return undefined;
        if (!(error instanceof CodedError)) throw unreadable(this.file, error);
        if (attempt >= REREADS) throw error;
        await wait(REREAD_MS);
      }
    }
  }

  /** For its owner only. A link stays one: people share a login between homes. */
  async #writeFile({ whole }: Login): Promise<void> {
    const path = await realpath(this.file);
    const text = JSON.stringify(whole, null, 2);
    await replaceFile(path, text).catch(async (error: unknown) => {
      // A file that is mounted alone, or whose directory is not ours, can only be written in place. Not on a full disk.
      if (["ENOSPC", "EDQUOT"].includes(errnoOf(error) ?? "")) throw error;
      await overwriteFile(path, text).catch(() => {
        throw error;
      });
    });
  }

  async #writeKeyring(login: Login): Promise<void> {
    const { keyring, codexHome } = this.#order;
    if (keyring?.write === undefined) throw new Error("this keyring can only be read");
    await keyring.write(KEYRING_SERVICE, keyringAccount(codexHome), JSON.stringify(login.whole));
    this.#fromKeyring = { stored: { login } };
  }
}

/** What the file holds, at once: for a look before anything is asked. Throws `bad_login`. */
export function peekAuthFile(codexHome: string): Stored | undefined {
  const file = authFile(codexHome);
  try {
    // A pipe would be waited for, and everything with it.
    if (!statSync(file).isFile()) throw unreadable(file, new Error("it is no regular file"));
    return readAuthJson(readFileSync(file, "utf8"), file);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
    throw error instanceof CodedError ? error : unreadable(file, error);
  }
}

/** As a whole or not at all. */
async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`;
  const { uid, gid } = await stat(path);
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      // Who works as root in somebody's home must not take the login away from them.
      if (uid !== process.getuid?.()) await file.chown(uid, gid);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined); // The first failure says more.
    throw error;
  }
}

async function overwriteFile(path: string, text: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.chmod(0o600).catch(() => undefined); // It may be somebody else's.
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

function holds(stored: Stored | undefined, accessToken: string): boolean {
  return stored !== undefined && "login" in stored && stored.login.accessToken === accessToken;
}

export function authFile(codexHome: string): string {
  return join(codexHome, "auth.json");
}

function unreadable(file: string, cause: unknown): CodedError {
  return new CodedError("bad_login", `${file} cannot be read: ${messageOf(cause)}`, { cause });
}
