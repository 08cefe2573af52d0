// Where a renewed login is kept: for its owner, as a whole where that can be, and never over a newer one.
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { status } from "../../../support/model-server.ts";
import { responsesReply } from "../../../support/responses.ts";
import { askOf, failureOf, listen } from "../ask.ts";
import { eachOnGround, type Ground, jwt, loginFile, renewed } from "./logins.ts";

let ground: Ground;
eachOnGround((fresh) => {
  ground = fresh;
});

const ok = () => responsesReply("ok");
const ending = () => loginFile({ access_token: jwt(-60, {}, "ended") });
const file = () => join(ground.home, "auth.json");
const sent = () => ground.server.requests.at(-1)?.headers ?? {};
const isRoot = process.getuid?.() === 0;

describe("a login that was made while ours was renewed", () => {
  test("stays, and is used", async () => {
    ground.write(ending());
    const access = jwt(9999, {}, "logged in again");
    const anew = loginFile({
      access_token: access,
      refresh_token: "refresh-token-anew",
      account_id: "account-2",
    });
    ground.server.script((exchange) => {
      ground.write(anew);
      return renewed("second")(exchange);
    }, ok());
    expect((await listen(ground.provider())).text).toBe("ok");
    expect(ground.read()).toEqual(anew);
    expect(sent()).toMatchObject({ authorization: `Bearer ${access}`, "chatgpt-account-id": "account-2" });
  });

  test("stays too where it is a key", async () => {
    ground.write(ending());
    const key = { auth_mode: "apikey", OPENAI_API_KEY: "sk-fixture-0123456789" };
    ground.server.script((exchange) => {
      ground.write(key);
      return renewed("second")(exchange);
    });
    expect((await failureOf(listen(ground.provider()))).message).toMatch(/the Codex login is missing/);
    expect(ground.read()).toEqual(key);
  });
});

test("a link stays a link: several homes may share one login", async () => {
  const real = join(ground.env["HOME"] ?? "", "shared.json");
  ground.write(ending());
  renameSync(file(), real);
  symlinkSync(real, file());
  ground.server.script(renewed("second"), ok());
  await listen(ground.provider());
  expect(lstatSync(file()).isSymbolicLink()).toBe(true);
  expect(ground.read().tokens?.["refresh_token"]).toBe("refresh-token-second");
});

test.runIf(isRoot)("the file stays its owner's, also where root renews it", async () => {
  ground.write(ending());
  chownSync(file(), 65_534, 65_534);
  ground.server.script(renewed("second"), ok());
  await listen(ground.provider());
  expect(ground.read().tokens?.["refresh_token"]).toBe("refresh-token-second");
  expect(statSync(file())).toMatchObject({ uid: 65_534, gid: 65_534 });
  expect(statSync(file()).mode & 0o777).toBe(0o600);
});

describe("where no file can be put beside it", () => {
  /** A name too long to add a suffix to, even for root. */
  function writeUnderLongName(value: object): string {
    const directory = join(ground.env["HOME"] ?? "", "shared");
    mkdirSync(directory);
    const real = join(directory, `${"long".repeat(60)}.json`);
    writeFileSync(real, JSON.stringify(value, null, 8), { mode: 0o644 });
    renameSync(file(), join(ground.home, "old.json"));
    symlinkSync(real, file());
    return real;
  }

  test("it is written in place, and nothing of the longer text before stays", async () => {
    const real = writeUnderLongName({ ...ending(), padding: "x".repeat(10), more: [1, 2, 3, 4] });
    ground.server.script(renewed("second"), ok());
    const warnings: string[] = [];
    await listen(ground.provider(), askOf({ onWarning: (text) => warnings.push(text) }));
    expect(warnings).toEqual([]);
    expect(JSON.parse(readFileSync(real, "utf8"))).toMatchObject({
      padding: "xxxxxxxxxx",
      tokens: { refresh_token: "refresh-token-second" },
    });
    expect(statSync(real).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(real, ".."))).toHaveLength(1);
  });

  test.skipIf(isRoot)("a directory that cannot be written is such a place", async () => {
    ground.write(ending());
    chmodSync(ground.home, 0o500);
    ground.server.script(renewed("second"), ok());
    await listen(ground.provider());
    chmodSync(ground.home, 0o700);
    expect(ground.read().tokens?.["refresh_token"]).toBe("refresh-token-second");
  });
});

test.skipIf(isRoot)(
  "a login that can only be read is not renewed: it would be used up for all others",
  async () => {
    ground.write(ending());
    chmodSync(file(), 0o400);
    chmodSync(ground.home, 0o500);
    const { kind, message } = await failureOf(listen(ground.provider()));
    chmodSync(ground.home, 0o700);
    expect({ kind, asked: ground.server.requests }).toEqual({ kind: "auth", asked: [] });
    expect(message).toMatch(/renewed by Codex itself, because .*auth\.json is not writable/);
  },
);

test.skipIf(isRoot)("but one in memory only is renewed: no other program has it", async () => {
  ground.write(ending());
  ground.server.script((exchange) => {
    chmodSync(file(), 0o400);
    chmodSync(ground.home, 0o500);
    return renewed("second")(exchange);
  }, ok());
  const provider = ground.provider();
  await listen(provider);
  ground.server.script(status(401, {}), renewed("third"), ok());
  expect((await listen(provider)).text).toBe("ok");
  chmodSync(ground.home, 0o700);
  expect(ground.read().tokens?.["refresh_token"]).toBe("refresh-token-first");
});

test("a login that cannot be stored is reported, and kept in memory until the user logs in again", async () => {
  ground.write(ending());
  // Its directory is gone, which not even root can write to.
  const there = join(ground.env["HOME"] ?? "", "gone");
  ground.server.script((exchange) => {
    renameSync(ground.home, there);
    return renewed("second")(exchange);
  }, ok());
  const warnings: string[] = [];
  const provider = ground.provider();
  const request = askOf({ onWarning: (text) => warnings.push(text) });
  expect((await listen(provider, request)).text).toBe("ok");
  expect(warnings).toEqual([
    expect.stringMatching(/could not be written .*\(ENOENT.*this process only.*codex login/),
  ]);
  renameSync(there, ground.home);
  ground.server.script(ok(), ok());
  await listen(provider, request);
  expect(sent().authorization).toBe(ground.server.requests.at(-2)?.headers.authorization);
  const anew = jwt(9999, {}, "logged in again");
  ground.write(loginFile({ access_token: anew }));
  await listen(provider, request);
  expect(sent().authorization).toBe(`Bearer ${anew}`);
  expect(warnings).toHaveLength(1);
});

test("one that is kept in memory is renewed as well, and then stored in place of the old one", async () => {
  ground.write(ending());
  const there = join(ground.env["HOME"] ?? "", "gone");
  ground.server.script((exchange) => {
    renameSync(ground.home, there);
    return renewed("second")(exchange);
  }, ok());
  const provider = ground.provider();
  await listen(provider);
  renameSync(there, ground.home);
  ground.server.script(status(401, {}), renewed("third"), ok());
  await listen(provider);
  expect(ground.read().tokens?.["refresh_token"]).toBe("refresh-token-third");
  expect(ground.server.requests.at(-2)?.body).toMatchObject({ refresh_token: "refresh-token-second" });
});
