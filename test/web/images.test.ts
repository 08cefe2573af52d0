// Images of a message in the composer of the page: what is taken, and what is sent.
import { expect, test } from "vitest";
import { type ImageFile, MAX_PICTURES, readPictures, toInput } from "../../web/src/session/images.ts";

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3];
const JPEG = [0xff, 0xd8, 0xff, 0xe0];
const WEBP = [...Buffer.from("RIFF1234WEBPVP8 ")];

function file(name: string, bytes: ArrayLike<number>): ImageFile {
  return { name, size: bytes.length, arrayBuffer: async () => new Uint8Array(bytes).buffer };
}

test("the type is what the bytes say, not the name", async () => {
  const files = [
    file("a.png", JPEG),
    file("b.txt", PNG),
    file("c", WEBP),
    file("d.gif", [...Buffer.from("GIF89a")]),
  ];
  const { pictures, problem } = await readPictures(files, []);
  expect(problem).toBe("");
  expect(pictures.map(({ name, media_type }) => [name, media_type])).toEqual([
    ["a.png", "image/jpeg"],
    ["b.txt", "image/png"],
    ["c", "image/webp"],
    ["d.gif", "image/gif"],
  ]);
  expect(pictures[1]?.data).toBe(Buffer.from(PNG).toString("base64"));
});

test("other files are named, with what to do instead", async () => {
  const { pictures, problem } = await readPictures([file("notes.pdf", [...Buffer.from("%PDF-1.7")])], []);
  expect(pictures).toEqual([]);
  expect(problem).toMatch(/^notes\.pdf is not a PNG, JPEG, GIF or WebP image\. .* @ and its path/);
});

test("an SVG, which could contain a script, is not an image here", async () => {
  const svg = file("a.png", [...Buffer.from("<svg onload=alert(1)>")]);
  expect((await readPictures([svg], [])).pictures).toEqual([]);
});

test("a large file is refused without reading it", async () => {
  const large: ImageFile = {
    name: "large.png",
    size: 20_000_000,
    arrayBuffer: () => Promise.reject(new Error("it was read")),
  };
  expect((await readPictures([large], [])).problem).toBe("large.png has 20 MB; an image may have up to 5.");
});

test("images that are too large together are refused, those that fit are taken", async () => {
  const bytes = new Uint8Array(4_500_000);
  bytes.set(PNG);
  const { pictures, problem } = await readPictures(
    [file("a", bytes), file("b", bytes), file("c", bytes)],
    [],
  );
  expect(pictures.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(problem).toBe("c: the images of a message may have up to 11 MB together.");
});

test("of 50 files, the first ten are taken; the reasons do not fill the page", async () => {
  const files = Array.from({ length: 50 }, (_, at) => file(`${at}.png`, PNG));
  const { pictures, problem } = await readPictures(files, []);
  expect(pictures).toHaveLength(MAX_PICTURES);
  expect(problem).toMatch(/^10\.png: a message takes up to 10 images\..* 37 more files were left out\.$/);
  expect((await readPictures(files, pictures)).pictures).toEqual([]);
});

test("names are one line without control or reordering characters", async () => {
  const { problem } = await readPictures([file(`a\n\u202Egnp.exe${"x".repeat(500)}`, [0])], []);
  expect(problem).not.toMatch(/[\n\u202E]/);
  expect(problem.length).toBeLessThan(250);
});

test("a file that cannot be read is named", async () => {
  const gone: ImageFile = { name: "folder", size: 4096, arrayBuffer: () => Promise.reject(new Error("no")) };
  expect(await readPictures([gone], [])).toEqual({ pictures: [], problem: "folder cannot be read." });
});

test("a message without images is sent as text, with images as blocks, without an empty text", async () => {
  const { pictures } = await readPictures([file("a.png", PNG)], []);
  const block = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: Buffer.from(PNG).toString("base64") },
  };
  expect(toInput("see", [])).toEqual({ text: "see" });
  expect(toInput("see", pictures)).toEqual({
    message: { role: "user", content: [{ type: "text", text: "see" }, block] },
  });
  expect(toInput(" ", pictures)).toEqual({ message: { role: "user", content: [block] } });
});
