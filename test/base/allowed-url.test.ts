// The allow-list of URLs, with the tricks that are tried on one.
import { describe, expect, test } from "vitest";
import { checkAllowedUrl, parseAllowList } from "../../src/base/allowed-url.ts";

const CODE = "notify_not_allowed";
const LIST = parseAllowList(
  ["https://good.example/hooks", "http://127.0.0.1:9000", "https://slash.example/a/"],
  CODE,
);
const check = (url: string) => checkAllowedUrl(url, LIST, CODE).href;

describe("allowed", () => {
  test.each([
    ["https://good.example/hooks", "https://good.example/hooks"],
    ["https://good.example/hooks/", "https://good.example/hooks/"],
    ["https://good.example/hooks/a/b?key=1", "https://good.example/hooks/a/b?key=1"],
    ["HTTPS://GOOD.example:443/hooks/a", "https://good.example/hooks/a"],
    ["https://good.example/hooks/x/../y", "https://good.example/hooks/y"],
    ["https://good.example/hooks/%c3%a4/a..b/.well", "https://good.example/hooks/%c3%a4/a..b/.well"],
    ["https://good.example/hooks#part", "https://good.example/hooks"],
    ["http://127.0.0.1:9000/anything", "http://127.0.0.1:9000/anything"],
    ["https://slash.example/a/b", "https://slash.example/a/b"],
  ])("%s is called as %s", (url, called) => {
    expect(check(url)).toBe(called);
  });
});

describe("refused", () => {
  test.each([
    // another host
    "https://evil.example/hooks",
    "https://good.example.evil/hooks",
    "https://evil.example/good.example/hooks",
    "https://sub.good.example/hooks",
    "https://good.example./hooks",
    "https://xn--good-.example/hooks",
    // another scheme or port
    "http://good.example/hooks",
    "https://good.example:8443/hooks",
    "http://127.0.0.1/anything",
    "http://127.0.0.1:90000/x",
    "http://127.0.0.1:9001/x",
    "http://localhost:9000/x",
    "ftp://good.example/hooks",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/plain,x",
    // another path
    "https://good.example/",
    "https://good.example/hooks-of-others",
    "https://good.example/hooksx",
    "https://good.example/Hooks",
    "https://good.example/hooks/../admin",
    "https://good.example/hooks/../../hooks-of-others",
    "https://good.example/hooks/%2e%2e/admin",
    "https://good.example/hooks/..%2fadmin",
    "https://good.example/hooks/x%2F..%2F..%2Fadmin",
    "https://good.example/hooks/..%5cadmin",
    "https://good.example/hooks/%252e%252e/admin",
    "https://good.example/hooks/%00",
    "https://good.example//hooks",
    "https://good.example/hooks/..;/admin",
    "https://good.example/hooks/..;x=1/admin",
    "https://good.example/hooks/.../admin",
    "https://good.example/hooks/%c0%ae%c0%ae/admin",
    "https://good.example/hooks/%C1%9c/admin",
    "https://good.example/hooks/%e0%80%ae%e0%80%ae/admin",
    "https://good.example/hooks/%ff",
    "https://good.example/x?/hooks",
    "https://slash.example/a",
    // credentials before the host
    "https://good.example@evil.example/hooks",
    "https://good.example:443@evil.example/hooks",
    "https://user:pass@good.example/hooks",
    "https://user@good.example/hooks",
    "https://@good.example/hooks",
    // URLs that a reader and a parser see differently
    "https://evil.example\\@good.example/hooks",
    "https:\\\\good.example\\hooks",
    "https://good.example/hooks/..\\admin",
    " https://good.example/hooks",
    "https://good.example/hooks\n",
    "https://good.ex\tample/hooks",
    "https://good.example/ho\u0000oks",
    "https://good.example/hooks\u00a0",
    // no URL at all
    "",
    "good.example/hooks",
    "//good.example/hooks",
    "/hooks",
    "https://",
  ])("%j", (url) => {
    expect(() => check(url)).toThrow(expect.objectContaining({ code: CODE }));
  });

  test("a refusal does not repeat the URL's path, query or password: they can be secret", () => {
    for (const url of ["https://evil.example/SECRET?SECRET", "https://u:SECRET@good.example/hooks"]) {
      expect(() => check(url)).toThrow(
        expect.objectContaining({ message: expect.not.stringMatching(/SECRET/) }),
      );
    }
  });

  test("a refusal names the allowed hosts once, and not their paths: they can be secret", () => {
    const list = parseAllowList(
      ["https://good.example/SECRET-1", "https://good.example/SECRET-2", "http://127.0.0.1:9000/SECRET-3"],
      CODE,
    );
    expect(() => checkAllowedUrl("https://evil.example/", list, CODE)).toThrow(
      expect.objectContaining({
        message:
          "https://evil.example is not on the allow-list, which has: https://good.example, http://127.0.0.1:9000",
      }),
    );
  });

  test("an empty list allows nothing and says so", () => {
    expect(() => checkAllowedUrl("https://good.example/", [], CODE)).toThrow(/allow-list, which is empty/);
  });
});

describe("the list itself", () => {
  test.each(["good.example", "https://u:p@good.example/", "https://good.example/?a=1", "ftp://good.example"])(
    "%s is no entry",
    (entry) => {
      expect(() => parseAllowList([entry], CODE)).toThrow(expect.objectContaining({ code: CODE }));
    },
  );
});
