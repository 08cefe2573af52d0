// Which settings in the home directory commands may read. No text here says that it is secret: only its form does.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findSettings } from "../../../src/runtime/sandbox/settings.ts";

let home = "";
const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
};
const find = async (closed: string[] = []) =>
  (await findSettings(home, closed)).map((path) => path.slice(home.length + 1)).sort();

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "demian-settings-")));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test.each([
  '[registry]\ntoken = "x1"',
  "[http]\n\textraheader = X: x1",
  "[http]\n\theader = Authorization: Basic x1",
  "[x]\n\tpassword = x1",
  "[x]\n\tclient-secret = x1",
  "[x]\n\tapikey = x1",
  "[env]\nMY_KEY = 'x1'",
  "[x]\n\thelper = oauth",
  '[url "https://me:x1@host/"]',
  '[url "https://x1@host/"]',
  "[x]\n\tpat = ghp_x1",
  "[x]\n\tpat = github_pat_x1",
  "[x]\n\tpat = glpat-x1",
  "-----BEGIN OPENSSH",
  `[x]${" ".repeat(70_000)}`,
])("a file with a login, or too long, is left out: %#", async (text) => {
  put(".gitconfig", text);
  put(".tool-versions", "nodejs 20.0.0\n");
  expect(await find()).toEqual([".tool-versions"]);
});

test("a usual file is found", async () => {
  put(".gitconfig", '[user]\n\tsigningkey = A\n[url "ssh://git@host/"]\n\tinsteadOf = host:\n');
  put(".config/mise/config.toml", '[tools]\nnode = "20"\n');
  expect(await find()).toEqual([".config/mise/config.toml", ".gitconfig"]);
});

test("files that git's settings name are found, except closed ones, logins, and those of an included file", async () => {
  put(
    ".gitconfig",
    `[include]
\tpath = more ; mine
[includeIf "gitdir:~/work/"]
\tpath = "~/.config/git/work"
[Core]
\tExcludesFile = ~/.ignored
\tattributesFile = ${home}/.attributes
\tpager = ~/notes
[commit]
\ttemplate = ~/link
[include]
\tpath = ~/closed/file
\tpath = ~/leads-to-closed
\tpath = ~/with-login
\tpath = ~/missing
\tpath = /etc/hostname
\tpath = ~/../outside
`,
  );
  put("more", "[core]\n\texcludesFile = ~/nested\n");
  put("with-login", "[x]\n\ttoken = x1\n");
  for (const path of [
    ".config/git/work",
    ".ignored",
    ".attributes",
    "notes",
    "message",
    "nested",
    "closed/file",
  ])
    put(path, "text\n");
  symlinkSync(join(home, "message"), join(home, "link"));
  symlinkSync(join(home, "closed/file"), join(home, "leads-to-closed"));
  expect(await find([join(home, "closed")])).toEqual(
    [".attributes", ".config/git/work", ".gitconfig", ".ignored", "link", "more"].sort(),
  );
});
