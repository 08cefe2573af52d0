// The list of an account: requested once, kept on disk, used when the vendor cannot be reached.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import {
  createModelList,
  LIST_TTL_MS,
  type ListModels,
} from "../../../../src/runtime/providers/models/list.ts";

const signal = new AbortController().signal;
let home: string;
let asked: number;
/** Undefined: it cannot be reached. */
let body: string | undefined;
let nowMs: number;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "models-"));
  [asked, body, nowMs] = [0, JSON.stringify({ data: [{ id: "m", context_length: 9000 }] }), 1_000_000];
  return () => rmSync(home, { recursive: true });
});

function open(url = "https://vendor.example/v1/models", key = "sk-secret-1"): ListModels {
  const request = async () => {
    asked += 1;
    if (body === undefined) throw new TypeError("fetch failed");
    return new Response(body);
  };
  return createModelList({ request, url, account: [key], env: { XDG_STATE_HOME: home }, now: () => nowMs });
}

const directory = () => join(home, "demian/models");

describe("the list of models", () => {
  test("is requested once a day, also by the next start", async () => {
    expect(await open()({ signal, isCachedOnly: true })).toBeUndefined();
    expect(await open()({ signal })).toEqual([{ id: "m", contextTokens: 9000 }]);
    expect(await open()({ signal })).toHaveLength(1);
    expect(await open()({ signal, isCachedOnly: true })).toHaveLength(1);
    expect(asked).toBe(1);
    nowMs += LIST_TTL_MS;
    await open()({ signal });
    expect(asked).toBe(2);
  });

  test("is the old one when the vendor cannot be reached, and it is not asked again at once", async () => {
    await open()({ signal });
    body = undefined;
    nowMs += LIST_TTL_MS * 30;
    const list = open();
    expect(await list({ signal })).toHaveLength(1);
    expect(await list({ signal })).toHaveLength(1);
    expect(asked).toBe(2);
    nowMs += 60_000;
    await list({ signal });
    expect(asked).toBe(3);
  });

  test("of a server on this machine is requested every time", async () => {
    const list = open("http://127.0.0.1:8080/v1/models");
    await list({ signal });
    await list({ signal });
    expect(asked).toBe(2);
  });

  test("of another account is another list, and no key is on disk", async () => {
    await open()({ signal });
    await open(undefined, "sk-secret-2")({ signal });
    expect(asked).toBe(2);
    const files = readdirSync(directory());
    expect(files).toHaveLength(2);
    for (const file of files) expect(readFileSync(join(directory(), file), "utf8")).not.toContain("sk-");
  });

  test("that is damaged, or is none, is replaced or ignored", async () => {
    await open()({ signal });
    const [file = ""] = readdirSync(directory());
    writeFileSync(join(directory(), file), "{", { mode: 0o600 });
    expect(await open()({ signal })).toHaveLength(1);
    expect(asked).toBe(2);
    body = "<html>";
    expect(await open("https://other.example/v1/models")({ signal })).toBeUndefined();
  });
});
