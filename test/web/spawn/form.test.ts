import { describe, expect, test } from "vitest";
import { SpawnBody } from "../../../src/protocol/wire/http.ts";
import {
  checkForm,
  EMPTY_FORM,
  findErrorField,
  knownDirectories,
  knownModels,
  readRemembered,
  toSpawnBody,
} from "../../../web/src/spawn/form.ts";
import { sessionView } from "../support.ts";

const FORM = { ...EMPTY_FORM, backend: "demo" };

describe("the form for a new session", () => {
  test("wants an agent, a whole path and an amount, each at its field", () => {
    expect(checkForm(FORM)).toEqual({});
    const errors = checkForm({ ...EMPTY_FORM, cwd: "src", budget: "much", name: "n".repeat(201) });
    expect(Object.keys(errors).sort()).toEqual(["backend", "budget", "cwd", "name"]);
  });

  test.each(["2.5", "$2.50", "2,5", " 2.5 "])("takes %j for two and a half dollars", (budget) => {
    expect(checkForm({ ...FORM, budget })).toEqual({});
    expect(toSpawnBody({ ...FORM, budget }).budget).toEqual({ max_cost_usd: 2.5 });
  });

  test.each(["-1", "1e3", "NaN", "0x10", ".", "0", "0.00"])("does not take %j for an amount", (budget) => {
    expect(checkForm({ ...FORM, budget })).toHaveProperty("budget");
  });

  test("leaves out what was left empty, and asks for approval by default", () => {
    expect(toSpawnBody({ ...FORM, name: "  ", prompt: " \n" })).toEqual({
      backend: "demo",
    });
    expect(toSpawnBody({ ...FORM, approvals: false })).toHaveProperty("approvals", false);
  });

  test("sends what the daemon takes, and the prompt unchanged", () => {
    const form = {
      ...FORM,
      cwd: "/srv ",
      prompt: "  do\nit ",
      name: "n",
      model: "m",
      parent: "p",
      budget: "1",
    };
    const body = toSpawnBody(form);
    expect(SpawnBody.parse(body)).toEqual(body);
    expect(body).toMatchObject({ cwd: "/srv", prompt: "  do\nit " });
  });
});

describe("a refusal of the daemon", () => {
  test.each([
    ["unknown_backend", "there is no agent x", "backend"],
    ["session_unknown", "no session p", "parent"],
    ["invalid_message", "POST /sessions: /name: too long", "name"],
    ["spawn_failed", "the directory /nowhere does not exist", "cwd"],
    ["store_failed", "the disk is full", undefined],
  ])("%s, %j, belongs to %s", (code, message, field) => {
    expect(findErrorField({ code, message })).toBe(field);
  });
});

describe("what is remembered", () => {
  test("is restored", () => {
    const kept = { backend: "codex", cwd: "/srv", approvals: false, models: { codex: "gpt" } };
    expect(readRemembered(JSON.stringify(kept))).toEqual(kept);
  });

  test.each([null, "", "{", "[]", "7", '{"backend":1,"models":{"a":{}},"approvals":"no"}'])(
    "is nothing usable of %j",
    (text) => {
      const { models = {}, ...rest } = readRemembered(text);
      expect(rest).toEqual({});
      expect(models).toEqual({});
    },
  );

  test("offers directories of sessions once, the latest first, and models of the same agent", () => {
    const sessions = [
      sessionView("a", { cwd: "/old", last_active_at_ms: 1, model: "m2" }),
      sessionView("b", { cwd: "/new", last_active_at_ms: 3, model: "m1" }),
      sessionView("c", { cwd: "/old", last_active_at_ms: 2, backend: "codex", model: "other" }),
    ];
    expect(knownDirectories(sessions)).toEqual(["/new", "/old"]);
    expect(knownModels(sessions, "demo")).toEqual(["m1", "m2"]);
  });
});
