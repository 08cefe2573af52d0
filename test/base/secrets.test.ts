// Secrets in text that is shared: masked, counted, and never shown as a whole.
import { expect, test } from "vitest";
import { maskShared } from "../../src/base/secrets.ts";

function mask(text: string): { masked: string; found: string[] } {
  const found: string[] = [];
  const masked = maskShared(text, (name, start) => found.push(`${name} ${start}`));
  return { masked, found };
}

test.each([
  ["a GitHub token", `ghp_${"a1".repeat(18)}`, "GitHub token"],
  ["an API key", `sk-ant-${"x7".repeat(12)}`, "API key"],
  ["a private key", "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----", "private key"],
])("%s", (_what, secret, name) => {
  const { masked, found } = mask(`x ${secret} y`);
  expect(masked).toBe(`x [${name} masked] y`);
  expect(found).toEqual([`${name} ${secret.slice(0, 4)}`]);
});

test.each([
  ["a header", "Authorization: Bearer abcdef123456", "Authorization: Bearer [credentials masked]"],
  [
    "a header in JSON",
    '{"authorization":"Basic dXNlcjpwYXNz"}',
    '{"authorization":"Basic [credentials masked]"}',
  ],
  ["a URL", "git clone https://me:hunter22@host/x", "git clone https://me:[password masked]@host/x"],
  [
    "a variable",
    "export DB_PASSWORD='correct-horse'",
    "export DB_PASSWORD='[value of a secret variable masked]'",
  ],
  ["a variable of CI", "NPM_TOKEN=abcdefgh12", "NPM_TOKEN=[value of a secret variable masked]"],
])("%s", (_what, text, masked) => {
  expect(mask(text).masked).toBe(masked);
});

test.each([
  "const token = readToken(file)",
  "see https://host:8080/path and user@host",
  "GITHUB_TOKEN=$TOKEN",
  "MAX_TOKENS=4096",
  "ghp_short",
])("left alone: %s", (text) => {
  expect(mask(text)).toEqual({ masked: text, found: [] });
});

test("masking a hostile megabyte takes no longer than reading it", () => {
  for (const piece of ["sk-", "A_SECRET", "a://b:c", "eyJ.", "Authorization: ", "-----BEGIN "])
    expect(mask(piece.repeat(100_000)).masked.length).toBeGreaterThan(0);
});
