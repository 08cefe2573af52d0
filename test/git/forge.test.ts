import { expect, test } from "vitest";
import { makeCompareLink, readForge } from "../../src/git/forge.ts";

test.each([
  ["git@github.com:me/app.git", { kind: "github", host: "github.com", repository: "me/app" }],
  ["https://token@github.com/me/app", { kind: "github", host: "github.com", repository: "me/app" }],
  ["ssh://git@gitlab.example.com:2222/group/sub/app.git", { kind: "gitlab", host: "gitlab.example.com" }],
  ["https://bitbucket.org/me/app/", { kind: "bitbucket", repository: "me/app" }],
  ["https://codeberg.org:8443/me/app.git", { kind: "other", host: "codeberg.org:8443" }],
])("%s is understood", (url, forge) => expect(readForge(url)).toMatchObject(forge));

test.each([
  "/srv/git/app.git",
  "file:///srv/app.git",
  "ext::sh -c x",
  "https://github.com/",
  "",
  "github.com",
])("%j is no forge", (url) => expect(readForge(url)).toBeUndefined());

test.each([
  ["git@github.com:me/app.git", "https://github.com/me/app/compare/main...blemees/fix%231?expand=1"],
  ["https://codeberg.org/me/app", "https://codeberg.org/me/app/compare/main...blemees/fix%231"],
  [
    "https://gitlab.com/a/b/c",
    "https://gitlab.com/a/b/c/-/merge_requests/new?merge_request%5Bsource_branch%5D=blemees%2Ffix%231&merge_request%5Btarget_branch%5D=main",
  ],
  [
    "https://bitbucket.org/me/app",
    "https://bitbucket.org/me/app/pull-requests/new?source=blemees%2Ffix%231&dest=main",
  ],
])("the page that compares branches: %s", (url, link) => {
  const forge = readForge(url);
  expect(forge && makeCompareLink(forge, "main", "blemees/fix#1")).toBe(link);
});
