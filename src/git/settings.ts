// What the user and the repository configure that a checkpoint must respect (ignore rules, the object format) or that decides
// whether git's own index can be reused (conversions of content). Read with `git config`, which starts nothing.
import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { splitFields } from "./paths.ts";
import type { Repository } from "./repository.ts";
import type { Git } from "./run.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface GitSettings {
  objectFormat: "sha1" | "sha256";
  /** The user's own ignore rules, beside those of the repository. */
  excludesFile?: string;
  ignoresCase: boolean;
  /** Something outside the work tree may change content between the work tree and the index. */
  mayConvert: boolean;
}

const CONVERTING = /^(core\.(autocrlf|eol|attributesfile)|include\.|includeif\.)/;
const SYSTEM_ATTRIBUTES = "/etc/gitattributes";

/** Throws `git_failed`. */
export async function readGitSettings(git: Git, repository: Repository, env: Env): Promise<GitSettings> {
  const [user, own] = await Promise.all([readUserConfig(git), readOwnConfig(git, repository)]);
  const value = (key: string) => own.get(key) ?? user.get(key);
  const home = env["HOME"] ?? "";
  const configHome =
    env["XDG_CONFIG_HOME"]?.startsWith("/") === true ? env["XDG_CONFIG_HOME"] : join(home, ".config");
  const attributes = [
    join(repository.commonDir, "info", "attributes"),
    join(configHome, "git", "attributes"),
    SYSTEM_ATTRIBUTES,
  ];
  const excludes = value("core.excludesfile");
  const excludesFile =
    excludes === undefined || excludes === ""
      ? join(configHome, "git", "ignore")
      : resolve(home, excludes.replace(/^~\//, ""));
  const isSet = ([key, text]: [string, string]) => CONVERTING.test(key) && text !== "false";
  return {
    objectFormat: own.get("extensions.objectformat") === "sha256" ? "sha256" : "sha1",
    ...((await hasContent(excludesFile)) ? { excludesFile } : {}),
    ignoresCase: own.get("core.ignorecase") === "true",
    mayConvert:
      [...own, ...user].some(isSet) || (await Promise.all(attributes.map(hasContent))).some((found) => found),
  };
}

/** Includes are followed: these files are the user's. */
async function readUserConfig(git: Git): Promise<Map<string, string>> {
  const args = ["config", "--list", "-z", "--includes"];
  // Not the configuration of a repository that happens to be around.
  const env = { GIT_DIR: "/dev/null" };
  const { code, stdout } = await git.run({ args, cwd: "/", env, usesUserConfig: true });
  return code === 0 ? parseConfig(stdout) : new Map();
}

async function readOwnConfig(git: Git, { commonDir }: Repository): Promise<Map<string, string>> {
  const args = ["config", "--file", join(commonDir, "config"), "--no-includes", "--list", "-z"];
  const { code, stdout } = await git.run({ args, cwd: "/", env: { GIT_DIR: "/dev/null" } });
  return code === 0 ? parseConfig(stdout) : new Map();
}

/** `key\nvalue`; the last of several counts. Our own settings of the call are not among them. */
function parseConfig(output: Buffer): Map<string, string> {
  const entries = splitFields(output).map((field): [string, string] => {
    const at = field.indexOf("\n");
    const text = at === -1 ? "true" : Buffer.from(field.slice(at + 1), "latin1").toString("utf8");
    return [(at === -1 ? field : field.slice(0, at)).toLowerCase(), text];
  });
  return new Map(entries);
}

/** Attributes that change content when it is added; `-text`, `binary` and `diff=…` do not. */
const CONVERTS = /(^|\s)(text|eol|crlf|filter|ident|working-tree-encoding)(=\S*)?(\s|$)|\[attr\]/m;

/** Whether one of these `.gitattributes` files may change content. One that cannot be read counts. */
export async function mayConvertContent(files: readonly Buffer[]): Promise<boolean> {
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(() => "text");
    if (CONVERTS.test(text.replace(/^\s*#.*$/gm, ""))) return true;
  }
  return false;
}

async function hasContent(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isFile() && info.size > 0,
    () => false,
  );
}
