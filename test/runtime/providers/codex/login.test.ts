// Where a login is found, what counts as one, and when an API key may replace it.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readClaims, readExpiry, readIdentity } from "../../../../src/runtime/providers/codex/jwt.ts";
import {
  getPlatformKeyring,
  type Keyring,
  makeKeyringAccount,
  readMacEntry,
} from "../../../../src/runtime/providers/codex/keyring.ts";
import { listProviderChoices } from "../../../../src/runtime/providers/resolve.ts";
import { status } from "../../../support/model-server.ts";
import { responsesReply } from "../../../support/responses.ts";
import { askOf, failureOf, listen } from "../ask.ts";
import { configOf, eachOnGround, type Ground, INSTALLATION, jwt, loginFile, renewed } from "./logins.ts";

let ground: Ground;
eachOnGround((fresh) => {
  ground = fresh;
});

const ok = () => responsesReply("ok");
const KEY = "sk-fixture-0123456789";
const keyFile = { auth_mode: "apikey", OPENAI_API_KEY: KEY };
const sent = (index = -1) => ground.server.requests.at(index)?.headers ?? {};

describe("33: the claims of a token", () => {
  test.each(["a", "ab", "abc", "abcd"])("are read whatever padding is missing (%s)", (email) => {
    const claims = { email, note: "ÿþ?>" };
    const base64url = Buffer.from(JSON.stringify(claims)).toString("base64url");
    expect(readClaims(`h.${base64url}.s`)).toEqual(claims);
    expect(readClaims(`h.${base64url}==.s`)).toEqual(claims);
  });

  test.each(["", "opaque", "a.b", "a.!!!.c", `a.${Buffer.from("[1]").toString("base64url")}.c`])(
    "of something else (%j) are ignored",
    (token) => {
      expect(readClaims(token)).toBeUndefined();
      expect(readExpiry(token)).toBeUndefined();
      expect(readIdentity([token])).toEqual({ isFedramp: false });
    },
  );

  test.each([1e300, 8.64e12 + 1, -1e300, "soon", null])(
    "an expiry that is not a date (%j) is ignored",
    (exp) => {
      const claims = Buffer.from(JSON.stringify({ exp })).toString("base64url");
      expect(readExpiry(`h.${claims}.s`)).toBeUndefined();
    },
  );
});

describe("the home of Codex", () => {
  test("is ~/.codex, unless CODEX_HOME or the configuration names another, with ~ for the user's", async () => {
    const other = join(ground.env["HOME"] ?? "", "other");
    mkdirSync(other);
    const write = (name: string) =>
      writeFileSync(join(other, "auth.json"), JSON.stringify(loginFile({ account_id: name })));
    write("of-other");
    ground.server.script(ok(), ok(), ok(), ok());
    const account = async (change: object, env: Record<string, string> = ground.env) => {
      await listen(ground.provider({ ...change }, { env }));
      return sent()["chatgpt-account-id"];
    };
    expect(await account({})).toBe("account-1");
    expect(await account({ codexHome: "~/other" })).toBe("of-other");
    expect(await account({}, { ...ground.env, CODEX_HOME: other })).toBe("of-other");
    expect(await account({ codexHome: "~/.codex" }, { ...ground.env, CODEX_HOME: other })).toBe("account-1");
  });

  test("the installation is Codex's; without one it is ours, stays the same, and the home is left alone", async () => {
    rmSync(join(ground.home, "installation_id"));
    ground.server.script(ok(), ok(), ok());
    await listen(ground.provider());
    const ours = sent()["x-codex-installation-id"];
    expect(ours).toMatch(/^[0-9a-f-]{36}$/);
    await listen(ground.provider());
    expect(sent()["x-codex-installation-id"]).toBe(ours);
    expect(readdirSync(ground.home)).toEqual(["auth.json"]);
    writeFileSync(join(ground.home, "installation_id"), `${INSTALLATION}\n`);
    await listen(ground.provider());
    expect(sent()["x-codex-installation-id"]).toBe(INSTALLATION);
  });

  test("an installation id that no header could carry is ignored", async () => {
    writeFileSync(join(ground.home, "installation_id"), "evil\r\nx-header: 1");
    ground.server.script(ok());
    await listen(ground.provider());
    expect(sent()["x-codex-installation-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("33: whether there is a login is known before anything is asked", () => {
  const choice = (change: object = {}, env: Record<string, string> = ground.env) =>
    listProviderChoices({ codex: configOf(ground.server, { model: "m", ...change }) }, env)[0];

  test("with one it is ready", () => {
    expect(choice()).toEqual({ key: "codex", type: "codex", model: "m", isReady: true });
  });

  test.each<[string, unknown, object, RegExp]>([
    ["no file", undefined, {}, /no login \(none in .*\.codex\): log in with `codex login`, .*codexHome/],
    ["no login in it", { OPENAI_API_KEY: null }, {}, /log in with `codex login`/],
    [
      "no JSON",
      '{"tokens": "secret-thing',
      {},
      /auth\.json is not valid JSON; log in again with `codex login`/,
    ],
    ["a list", [], {}, /auth\.json is not a JSON object/],
    ["only a key", keyFile, {}, /contains an API key.*allowApiKeyFallback to true/],
    ["another kind", { personal_access_token: "at-secret-thing" }, {}, /\(personal_access_token\)/],
    ["no key to fall back on", undefined, { allowApiKeyFallback: true }, /set the variable OPENAI_API_KEY/],
    ["plain http", loginFile(), { baseURL: "http://codex.example" }, /baseURL must start with https:\/\//],
    ["plain http for the key", loginFile(), { apiKeyBaseURL: "http://codex.example" }, /apiKeyBaseURL must/],
    [
      "plain http for renewals",
      loginFile(),
      { refresh: { url: "http://codex.example" } },
      /refresh\.url must/,
    ],
  ])("%s is a problem with what to do", (_, file, change, problem) => {
    if (file === undefined) rmSync(join(ground.home, "auth.json"));
    else ground.write(file);
    const found = choice(change);
    expect(found).toMatchObject({ isReady: false, problem: expect.stringMatching(problem) });
    expect(found?.problem).not.toContain("secret-thing");
    expect(found?.problem).not.toContain(KEY);
  });

  test("a pipe or a directory in its place is named, and not waited for", () => {
    const file = join(ground.home, "auth.json");
    rmSync(file);
    execFileSync("mkfifo", [file]);
    expect(choice()?.problem).toMatch(/cannot read .*auth\.json: not a regular file/);
    rmSync(file);
    mkdirSync(file);
    expect(choice()?.problem).toMatch(/cannot read .*auth\.json: not a regular file/);
  });

  test("a key in the environment is ignored, unless the configuration allows it", () => {
    rmSync(join(ground.home, "auth.json"));
    const env = { ...ground.env, OPENAI_API_KEY: KEY };
    expect(choice({}, env)?.problem).toMatch(/billed per request/);
    expect(choice({ allowApiKeyFallback: true }, env)).toMatchObject({ isReady: true });
  });

  test.skipIf(getPlatformKeyring() !== undefined)("a keyring that cannot be read here is named", () => {
    expect(choice({ authStore: "keyring" })?.problem).toMatch(
      /this system has no supported keyring; use "auto"/,
    );
  });
});

describe("34: a key instead of a login", () => {
  const fallback = { allowApiKeyFallback: true };

  test("goes to its own address, with nothing of the login, and takes the limits that a plan does not", async () => {
    ground.write(keyFile);
    ground.server.script(ok(), ok());
    await listen(ground.provider(fallback), askOf({ maxTokens: 7, temperature: 0.5 }));
    expect(ground.server.requests[0]?.path).toBe("/v1/responses");
    expect(sent().authorization).toBe(`Bearer ${KEY}`);
    for (const name of ["chatgpt-account-id", "x-codex-installation-id", "originator", "x-openai-fedramp"]) {
      expect(sent()).not.toHaveProperty(name);
    }
    expect(ground.bodies()[0]).toMatchObject({ max_output_tokens: 7, temperature: 0.5, store: false });
    expect(ground.bodies()[0]).not.toHaveProperty("client_metadata");
    const env = { ...ground.env, MY_KEY: "of-the-environment" };
    await listen(ground.provider({ ...fallback, apiKeyEnv: "MY_KEY" }, { env }));
    expect(sent().authorization).toBe("Bearer of-the-environment");
  });

  test("is not used while there is a login, not even one that ended", async () => {
    ground.write(loginFile({ access_token: jwt(-60) }, { OPENAI_API_KEY: KEY }));
    ground.server.script(status(401, { error: { code: "refresh_token_expired" } }));
    const env = { ...ground.env, OPENAI_API_KEY: KEY };
    expect((await failureOf(listen(ground.provider(fallback, { env })))).message).toMatch(
      /refresh_token_expired/,
    );
    expect(ground.server.requests).toHaveLength(1);
  });

  test("that is refused is not renewed, and the variable is named", async () => {
    rmSync(join(ground.home, "auth.json"));
    ground.server.script(status(401, { error: { message: `bad key ${KEY}` } }));
    const env = { ...ground.env, OPENAI_API_KEY: KEY };
    const { message } = await failureOf(listen(ground.provider(fallback, { env })));
    expect(message).toMatch(/bad key \[key\]; check the key in OPENAI_API_KEY/);
    expect(ground.server.requests).toHaveLength(1);
  });

  test("a login that became a key is reported during a session", async () => {
    const provider = ground.provider();
    ground.write(keyFile);
    expect(await failureOf(listen(provider))).toMatchObject({
      kind: "auth",
      message: expect.stringMatching(/contains an API key.*allowApiKeyFallback/),
    });
  });

  test("a file that is written in this moment is read again", async () => {
    const provider = ground.provider();
    ground.server.script(ok());
    ground.write('{"tokens": {');
    const answer = listen(provider);
    setTimeout(() => ground.write(loginFile()), 10);
    expect((await answer).text).toBe("ok");
  });
});

describe("34: the keyring", () => {
  const inMemory = (entries: Record<string, string>): Keyring & { asked: string[] } => {
    const asked: string[] = [];
    return {
      asked,
      read: (service, account) => {
        asked.push(`${service}/${account}`);
        return Promise.resolve(entries[account]);
      },
    };
  };
  const entry = (account: string) => JSON.stringify(loginFile({ account_id: account }));

  test("names its entry after the real path of the home", () => {
    // The example in Codex's own tests.
    expect(makeKeyringAccount("~/.codex")).toBe("cli|940db7b1d0e4eb40");
    symlinkSync(ground.home, join(ground.env["HOME"] ?? "", "linked"));
    const keyring = inMemory({ [makeKeyringAccount(ground.home)]: entry("of-keyring") });
    ground.server.script(ok());
    return listen(ground.provider({ codexHome: "~/linked" }, { keyring })).then(() => {
      expect(keyring.asked).toEqual([`Codex Auth/${makeKeyringAccount(ground.home)}`]);
    });
  });

  test("comes before the file with auto, alone with keyring, and never with file", async () => {
    const keyring = inMemory({ [makeKeyringAccount(ground.home)]: entry("of-keyring") });
    const empty = inMemory({});
    ground.server.script(ok(), ok(), ok(), ok());
    const account = async (authStore: string, ring: Keyring) => {
      await listen(ground.provider({ authStore }, { keyring: ring }));
      return sent()["chatgpt-account-id"];
    };
    expect(await account("auto", keyring)).toBe("of-keyring");
    expect(await account("auto", empty)).toBe("account-1");
    expect(await account("file", keyring)).toBe("account-1");
    expect(await account("keyring", keyring)).toBe("of-keyring");
    const failure = await failureOf(listen(ground.provider({ authStore: "keyring" }, { keyring: empty })));
    expect(failure).toMatchObject({
      kind: "auth",
      message: expect.stringMatching(/log in with `codex login`/),
    });
  });

  test("is one for all providers of a process, so that they share one login", () => {
    expect(getPlatformKeyring("darwin")).toBe(getPlatformKeyring("darwin"));
  });

  test("that fails counts as none with auto, and is an error if it is the only source", async () => {
    const keyring: Keyring = { read: () => Promise.reject(new Error("locked")) };
    ground.server.script(ok());
    expect((await listen(ground.provider({}, { keyring }))).text).toBe("ok");
    const failure = await failureOf(listen(ground.provider({ authStore: "keyring" }, { keyring })));
    expect(failure).toMatchObject({
      kind: "auth",
      message: expect.stringMatching(/cannot read the keyring: locked/),
    });
  });

  test("that waits for the user does not delay an abort", async () => {
    const keyring: Keyring = { read: () => new Promise(() => undefined) };
    const abort = new AbortController();
    const gone = failureOf(listen(ground.provider({}, { keyring }), askOf({ signal: abort.signal })));
    abort.abort();
    expect(await gone).toMatchObject({ kind: "aborted" });
  });

  const ended = () => JSON.stringify(loginFile({ access_token: jwt(-60) }));

  test("that can only be read is not used up: Codex has to renew its login", async () => {
    const keyring = inMemory({ [makeKeyringAccount(ground.home)]: ended() });
    const { message } = await failureOf(listen(ground.provider({}, { keyring })));
    expect(message).toMatch(/must be renewed by Codex itself.*log in again with `codex login`/);
    expect(ground.server.requests).toEqual([]);
  });

  test("that can be written keeps the renewed login, and the file is unchanged", async () => {
    const before = ground.read();
    const entries: Record<string, string> = { [makeKeyringAccount(ground.home)]: ended() };
    const keyring: Keyring = {
      ...inMemory(entries),
      write: (_, account, secret) => {
        entries[account] = secret;
        return Promise.resolve();
      },
    };
    ground.server.script(renewed("second"), ok(), ok());
    await listen(ground.provider({}, { keyring }));
    expect(JSON.parse(entries[makeKeyringAccount(ground.home)] ?? "")).toMatchObject({
      tokens: { refresh_token: "refresh-token-second" },
    });
    expect(ground.read()).toEqual(before);
    await listen(ground.provider({}, { keyring }));
    expect(ground.server.requests).toHaveLength(3);
  });

  test("of macOS is asked by its own program, without the secret in any argument", async () => {
    const program = join(ground.env["HOME"] ?? "", "security");
    const script = `#!/bin/sh\ncase "$*" in\n"find-generic-password -s Codex Auth -a cli|plain -w") echo '{"a":"b"}';;\n*hex*) printf '%s' '{"a":"ü"}' | od -An -tx1 | tr -d ' \\n';;\n*none*) exit 44;;\n*) exit 51;;\nesac\n`;
    writeFileSync(program, script);
    chmodSync(program, 0o700);
    const read = (account: string) => readMacEntry(program, "Codex Auth", account);
    expect(await read("cli|plain")).toBe('{"a":"b"}');
    expect(await read("cli|hex")).toBe('{"a":"ü"}');
    expect(await read("cli|none")).toBeUndefined();
    await expect(read("cli|other")).rejects.toThrow(/failed \(51\)/);
    expect(getPlatformKeyring("linux")).toBeUndefined();
    expect(Object.keys(getPlatformKeyring("darwin") ?? {})).toEqual(["read"]);
  });
});
