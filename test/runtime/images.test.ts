// Images of a user message: what becomes of addresses and of files.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createImagePart, loadImagePart } from "../../src/runtime/images.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "demian-images-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const part = (name: string, maxImageBytes = 1000) =>
  loadImagePart(name, { cwd, maxImageBytes, detail: "low" });
const refused = async (name: string, pattern: RegExp, maxImageBytes?: number) =>
  await expect(part(name, maxImageBytes)).rejects.toMatchObject({
    code: "bad_image",
    message: expect.stringMatching(pattern),
  });

const HEADS = {
  "image/png": Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]),
  "image/jpeg": Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
  "image/gif": Buffer.from("GIF89a…"),
  "image/webp": Buffer.from("RIFF\n\0\0\0WEBPVP8 "),
};

test.each(Object.entries(HEADS))(
  "a file that begins like %s becomes a data URL of that type",
  async (type, bytes) => {
    // The name says nothing: what counts is how it begins.
    writeFileSync(join(cwd, "picture.bin"), bytes);
    expect(await part("picture.bin")).toEqual({
      type: "image_url",
      image_url: { url: `data:${type};base64,${bytes.toString("base64")}`, detail: "low" },
    });
  },
);

test.each(["https://example.org/a.png?x=1", "HTTP://example.org/a"])(
  "the address %s is passed on",
  async (url) => {
    expect(await part(url)).toMatchObject({ image_url: { url } });
  },
);

test.each(["file:///etc/passwd", "ftp://host/a.png", "https://"])(
  "the address %s is refused",
  async (url) => {
    await refused(url, /an http:\/\/ or https:\/\/ URL/);
  },
);

test("other files, nothing, directories and pipes are refused, each with its reason", async () => {
  writeFileSync(join(cwd, "a.png"), "<svg/>");
  await refused("a.png", /a\.png is not a PNG, JPEG, GIF or WebP image/);
  writeFileSync(join(cwd, "empty.png"), "");
  await refused("empty.png", /is not a PNG/);
  await refused("none.png", /no such file/);
  await refused("~/a.png", /"~" is expanded by your shell/);
  mkdirSync(join(cwd, "d"));
  await refused("d", /not a regular file/);
  execFileSync("mkfifo", [join(cwd, "pipe")]);
  await refused("pipe", /not a regular file/);
});

test("a file that is too large is not read at all", async () => {
  writeFileSync(join(cwd, "big.png"), HEADS["image/png"]);
  truncateSync(join(cwd, "big.png"), 2 ** 42);
  await refused("big.png", /has 4398046511104 bytes; the limit is 1000\..*maxImageBytes/);
  writeFileSync(join(cwd, "fits.png"), HEADS["image/png"]);
  await refused("fits.png", /the limit is 8/, 8);
  expect(await part("fits.png", 9)).toBeDefined();
});

test("bytes are checked in the same way", () => {
  const order = { maxImageBytes: 9, detail: "auto" } as const;
  expect(createImagePart(HEADS["image/png"], order)).toMatchObject({ type: "image_url" });
  expect(() => createImagePart(HEADS["image/webp"], order)).toThrow(/the limit is 9/);
  expect(() => createImagePart(Buffer.from("text"), order)).toThrow(/is not a PNG/);
});
