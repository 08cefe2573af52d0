// A child's options beyond its three streams: more pipes, and another marker.
import { expect, test } from "vitest";
import { type ChildOrder, RUN_MARKER, startChild } from "../../src/base/child.ts";

async function run(script: string, more: Partial<ChildOrder> = {}): Promise<string> {
  const chunks: Buffer[] = [];
  const child = await startChild(
    { command: "/bin/sh", args: ["-c", script], env: { PATH: process.env["PATH"] }, ...more },
    { output: (chunk) => chunks.push(chunk), errorLine: () => undefined },
  );
  await child.done;
  return Buffer.concat(chunks).toString("utf8");
}

test("further pipes are descriptors 3 and 4: one to read to its end, one to write", async () => {
  const told: Buffer[] = [];
  const input = Buffer.alloc(300_000, "x");
  const pipes = [{ input }, { output: (chunk: Buffer) => told.push(chunk) }];
  expect((await run("wc -c <&3; echo told >&4", { pipes })).trim()).toBe("300000");
  expect(Buffer.concat(told).toString()).toBe("told\n");
});

test("a child that does not read its input still ends", async () => {
  expect(await run("echo done", { pipes: [{ input: Buffer.alloc(5_000_000) }, {}] })).toBe("done\n");
});

test("the marker has the requested name, beside that of the program's own starter", async () => {
  const env = { PATH: process.env["PATH"], [RUN_MARKER]: "of-the-daemon" };
  const text = await run(`echo "$${RUN_MARKER} $OTHER_MARK"`, { env, marker: "OTHER_MARK" });
  expect(text).toMatch(/^of-the-daemon [0-9a-f-]{36}\n$/);
});

test("a program that does not exist is reported, with and without pipes", async () => {
  const order = {
    command: "/nonexistent/program",
    args: [],
    env: {},
    pipes: [{ input: Buffer.from("x") }, {}],
  };
  const started = startChild(order, { output: () => undefined, errorLine: () => undefined });
  await expect(started).rejects.toMatchObject({ code: "spawn_failed", data: { reason: "not_found" } });
});
