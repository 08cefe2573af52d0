// Secrets in text that comes in pieces.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maskSecrets } from "../../../src/base/secrets.ts";
import { SecretStream } from "../../../src/runtime/hooks/builtin/secret-stream.ts";
import { Stage } from "../stage.ts";

const KEY = `sk-${"a1B2".repeat(8)}`;
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${"MIIE+/=\n".repeat(6)}-----END RSA PRIVATE KEY-----`;

function shownOf(pieces: readonly string[]): string[] {
  const stream = new SecretStream();
  return [...pieces.map((piece) => stream.push(piece)), stream.end()];
}

describe("a stream", () => {
  test.each([
    ["a key", `use ${KEY} now`],
    ["a private key", `here:\n${PEM}\nthat was it`],
    ["a key that a header follows at once", `${KEY}-----BEGIN `],
    ["a private key without an end", "-----BEGIN PRIVATE KEY-----\nMIIE\nand more"],
    ["a certificate", "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----\n"],
  ])("with %s never shows a part of it, wherever it is cut", (_, text) => {
    for (let at = 0; at <= text.length; at += 1) {
      const shown = shownOf([text.slice(0, at), text.slice(at)]);
      expect(shown.join("")).toBe(maskSecrets(text));
    }
    expect(shownOf([...text]).join("")).toBe(maskSecrets(text));
  });

  test("shows text as it arrives, also in languages without spaces", () => {
    const pieces = ["Hello ", "wor", "ld, ", "日本", "語", "thinking"];
    expect(shownOf(pieces)).toEqual([...pieces, ""]);
  });

  test("of any text in any pieces is the masked text", () => {
    const part = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom(
        KEY,
        PEM,
        "-----BEGIN",
        "-----",
        " ",
        "\n",
        "PRIVATE KEY-----",
        `ghp_${"A1".repeat(18)}`,
        "ey",
        ".",
      ),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 12 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
        (parts, sizes) => {
          const text = parts.join("");
          const pieces: string[] = [];
          for (let at = 0; at < text.length; ) {
            const size = sizes.next().value;
            pieces.push(text.slice(at, at + size));
            at += size;
          }
          expect(shownOf(pieces).join("")).toBe(maskSecrets(text));
        },
      ),
      { numRuns: 500 },
    );
  });
});

test("a key that the model streams is masked before it is emitted, in text and in reasoning", async () => {
  const stage = new Stage({
    replies: [{ reasoning: `I saw ${KEY} there`, text: `The key is ${KEY} indeed.` }],
  });
  await stage.run("what is the key?");
  const told = (type: "model.text.delta" | "model.reasoning.delta") =>
    stage
      .of(type)
      .map(({ text }) => text)
      .join("");
  expect(told("model.text.delta")).toBe("The key is [API key masked] indeed.");
  expect(told("model.reasoning.delta")).toBe("I saw [API key masked] there");
  expect(stage.of("model.text.delta").length).toBeGreaterThan(2);
});
