// Images for the next message: pasted paths, and the clipboard through the programs of the desktop.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Attachments, readPastedPath } from "../../../src/cli/demian/attachments.ts";
import { DemianConfig } from "../../../src/runtime/config/schema.ts";

const root = mkdtempSync(join(tmpdir(), "demian-images-"));
const config = DemianConfig.parse({});
const PNG = Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1");
const create = (env: Record<string, string> = {}) =>
  new Attachments({ cwd: root, config }, { HOME: root, ...env });

writeFileSync(join(root, "a shot.png"), PNG);
writeFileSync(join(root, "fake.png"), "text");
afterAll(() => rmSync(root, { recursive: true, force: true }));

test.each([
  ["/tmp/a.png", "/tmp/a.png"],
  [" '/tmp/a b.png' ", "/tmp/a b.png"],
  ["/tmp/a\\ b.png", "/tmp/a b.png"],
  ["file:///tmp/a%20b.png", "/tmp/a b.png"],
  ["~/a.png", "/home/u/a.png"],
])("%j is %j", (text, path) => {
  expect(readPastedPath(text, "/home/u")).toBe(path);
});

test("an image is sent with the message that has its label, and no other", async () => {
  const images = create();
  const label = await images.add(`'${root}/a shot.png'`);
  expect(label).toBe("[image 1: a shot.png]");
  expect(images.take("without it")).toEqual([]);
  const [part] = images.take(`see ${label}`);
  expect(JSON.stringify(part)).toContain("data:image/png;base64,");
  expect(images.take(`see ${label}`)).toEqual([]);
});

test("what is no image, or is missing, is refused with the reason", async () => {
  await expect(create().add("fake.png")).rejects.toThrow("is not a PNG, JPEG, GIF or WebP image");
  await expect(create().add("none.png")).rejects.toThrow("no such file");
});

describe.skipIf(process.platform === "darwin")("the clipboard", () => {
  function install(name: string, script: string): Record<string, string> {
    const bin = mkdtempSync(join(root, "bin-"));
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
    return { PATH: `${bin}:/usr/bin:/bin` };
  }

  test("is read by the program of the desktop", async () => {
    const env = { ...install("wl-paste", `cat '${root}/a shot.png'`), WAYLAND_DISPLAY: "wayland-0" };
    expect(await create(env).add(undefined)).toBe("[image 1: clipboard]");
  });

  test("without an image, a desktop or a program, the message says what to do", async () => {
    const empty = { ...install("xclip", "exit 1"), DISPLAY: ":0" };
    await expect(create(empty).add(undefined)).rejects.toThrow("the clipboard has no image");
    await expect(create().add(undefined)).rejects.toThrow("paste the path of an image file");
    const bare = { PATH: mkdtempSync(join(root, "bin-")), DISPLAY: ":0" };
    await expect(create(bare).add(undefined)).rejects.toThrow("need xclip; install it, or paste the path");
  });
});
