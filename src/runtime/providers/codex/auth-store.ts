// Where the login is found and kept: Codex's keyring entry or its auth.json. Reads what is there now; never makes up a
// login, and writes nothing but a renewed one.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { open, readFile, realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
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

  /** False: what it holds can be read and not replaced, so it must not be renewed: that would use it up. */
  get canKeep(): boolean {
    return this.#from === "file" || this.#order.keyring?.write !== undefined;
  }

  /** What is stored now. Undefined: nothing. `fresh`: the keyring is asked again. Throws `bad_login`. */
  async load({ fresh = false } = {}): Promise<Stored | undefined> {
    const stored = await this.#find(fresh);
    const unsaved = this.#unsaved;
    if (unsaved === undefined) return stored;
    // Whoever logged in anew since then wins.
    const isSame = stored !== undefined && "login" in stored && stored.login.accessToken === unsaved.instead;
    return isSame ? { login: unsaved.login } : stored;
  }

  /** Keeps a renewed login in place of `before`. Gives back what went wrong; it is then kept in memory. */
  async keep(login: Login, before: Login): Promise<string | undefined> {
    const instead =
      this.#unsaved?.login.accessToken === before.accessToken ? this.#unsaved.instead : before.accessToken;
    try {
      await (this.#from === "file" ? this.#writeFile(login) : this.#writeKeyring(login));
      this.#unsaved = undefined;
      return undefined;
    } catch (error) {
      this.#unsaved = { login, instead };
      const where = this.#from === "file" ? this.file : "the keyring";
      return `the login of Codex was renewed, but ${where} cannot be written (${messageOf(error)}): it holds for this process only, and the one that is stored is used up; log in again with \`codex login\` when this session is over`;
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

  /** As a whole, for the user only. A link stays one: people share a login between homes. */
  async #writeFile({ whole }: Login): Promise<void> {
    const path = await realpath(this.file);
    const draft = `${path}.${randomUUID()}.tmp`;
    try {
      const file = await open(draft, "wx", 0o600);
      try {
        await file.writeFile(JSON.stringify(whole, null, 2));
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
    return readAuthJson(readFileSync(file, "utf8"), file);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
    throw error instanceof CodedError ? error : unreadable(file, error);
  }
}

export function authFile(codexHome: string): string {
  return join(codexHome, "auth.json");
}

function unreadable(file: string, cause: unknown): CodedError {
  return new CodedError("bad_login", `${file} cannot be read: ${messageOf(cause)}`, { cause });
}
