import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { type PipedOptions, readWholeMessage } from "../../../src/cli/demian/piped.ts";

function piped(message: string | undefined, more: Partial<PipedOptions> = {}) {
  const stdin = new PassThrough();
  const said: string[] = [];
  const options: PipedOptions = {
    message,
    isPatient: false,
    note: (text) => said.push(text),
    warn: (text) => said.push(text),
    waits: { extraMs: 1, messageMs: 1 },
    ...more,
  };
  return { stdin, said, whole: (hasInput = true) => readWholeMessage({ stdin, hasInput }, options) };
}

describe("stdin", () => {
  test("is the message, without blanks around it", async () => {
    const { stdin, whole } = piped(undefined, { waits: { extraMs: 60_000, messageMs: 60_000 } });
    stdin.end("\n fix it \n");
    expect(await whole()).toBe("fix it");
  });

  test("that stays open and silent does not delay a message", async () => {
    const { whole, said } = piped("hi");
    expect(await whole()).toBe("hi");
    expect(said.join()).toMatch(/no data on stdin.*--stdin/);
  });

  test("that stays open and silent is no message", async () => {
    await expect(piped(undefined).whole()).rejects.toThrow(/no data on stdin.*--prompt/);
  });

  test("is waited for with --stdin", async () => {
    const { stdin, whole } = piped("explain", { isPatient: true });
    const text = whole();
    setImmediate(() => stdin.end("late"));
    expect(await text).toBe("explain\n\nlate");
  });

  test("that has begun is read to its end, however long that takes", async () => {
    const { stdin, whole } = piped("explain", { waits: { extraMs: 60_000, messageMs: 1 } });
    const text = whole();
    stdin.write("be");
    setImmediate(() => stdin.end("gun"));
    expect(await text).toBe("explain\n\nbegun");
  });

  test("that is not meant for us is left alone", async () => {
    expect(await piped("hi").whole(false)).toBe("hi");
    await expect(piped(undefined).whole(false)).rejects.toThrow("no message");
  });

  test("has a limit", async () => {
    const { stdin, whole } = piped(undefined, { isPatient: true });
    const text = whole();
    stdin.end(Buffer.alloc(11 * 1024 * 1024, "x"));
    await expect(text).rejects.toThrow("more than 10 MiB");
  });
});
