import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildCommandEnv, buildOpenEnv } from "../../src/runtime/command-env.ts";

const providers = {
  a: { type: "openai-compatible" as const, baseURL: "http://localhost", apiKeyEnv: "A_KEY" },
  b: { type: "anthropic" as const, apiKey: "written-down" },
};

test("keys of providers are taken out, under their own name and under any other", () => {
  const env = { A_KEY: "one", COPY: "one", OTHER: "written-down", LANG: "C", EMPTY: "" };
  const { GIT_CONFIG_COUNT: _, ...kept } = buildOpenEnv(env, providers);
  expect(kept).toMatchObject({ LANG: "C", EMPTY: "" });
  expect(JSON.stringify(kept)).not.toMatch(/one|written-down/);
});

test("logins of agents that demian can use are taken out", () => {
  const kept = buildOpenEnv({ CLAUDE_CODE_OAUTH_TOKEN: "a-login", SAME: "a-login", PATH: "/bin" }, {});
  expect(kept["CLAUDE_CODE_OAUTH_TOKEN"]).toBeUndefined();
  expect(kept["SAME"]).toBeUndefined();
  expect(kept["PATH"]).toBe("/bin");
});

test("what makes a shell run something first is taken out", () => {
  const env = { BASH_ENV: "x", ENV: "x", PROMPT_COMMAND: "x", "BASH_FUNC_ls%%": "() { :; }" };
  expect(Object.keys(buildOpenEnv(env, {})).filter((name) => !name.startsWith("GIT_"))).toEqual([]);
});

test("the user's own settings for git stay, ours follow them", () => {
  const env = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "user.name", GIT_CONFIG_VALUE_0: "me" };
  expect(buildOpenEnv(env, {})).toMatchObject({
    GIT_CONFIG_COUNT: "3",
    GIT_CONFIG_KEY_0: "user.name",
    GIT_CONFIG_KEY_1: "safe.bareRepository",
    GIT_CONFIG_KEY_2: "core.fsmonitor",
  });
});

test("commands of the model get no variable that is not on the list", () => {
  const env = {
    ...{
      PATH: "/bin",
      HOME: "/home/me",
      LC_ALL: "C",
      TERM: "xterm",
      JAVA_HOME: "/opt/java",
      https_proxy: "http://p",
      NPM_CONFIG_REGISTRY: "http://r",
      PLAYWRIGHT_BROWSERS_PATH: "/ms",
    },
    ...{ AWS_SECRET_ACCESS_KEY: "s", AWS_PROFILE: "s", GITHUB_TOKEN: "s", GH_TOKEN: "s", NPM_TOKEN: "s" },
    ...{ GOOGLE_APPLICATION_CREDENTIALS: "s", AZURE_CLIENT_SECRET: "s", DATABASE_URL: "s", KUBECONFIG: "s" },
    ...{
      SSH_AUTH_SOCK: "s",
      TF_VAR_x: "s",
      VAULT_TOKEN: "s",
      COPILOT_GITHUB_TOKEN: "s",
      DOCKER_AUTH_CONFIG: "s",
    },
    ...{ HTTP_PROXY: "http://me:s@p", PIP_INDEX_URL: "https://s@index", MAVEN_OPTS: "-Dtoken=s", MINE: "m" },
    ...{
      CARGO_REGISTRY_TOKEN: "s",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "http.extraheader",
      GIT_CONFIG_VALUE_0: "s",
    },
  };
  expect(buildCommandEnv(env, {}, ["MINE", "ABSENT"])).toEqual({
    ...{
      PATH: "/bin",
      HOME: "/home/me",
      LC_ALL: "C",
      TERM: "xterm",
      JAVA_HOME: "/opt/java",
      https_proxy: "http://p",
      NPM_CONFIG_REGISTRY: "http://r",
      PLAYWRIGHT_BROWSERS_PATH: "/ms",
    },
    MINE: "m",
    GIT_CONFIG_COUNT: "2",
    GIT_CONFIG_KEY_0: "safe.bareRepository",
    GIT_CONFIG_VALUE_0: "explicit",
    GIT_CONFIG_KEY_1: "core.fsmonitor",
    GIT_CONFIG_VALUE_1: "false",
  });
});

test("a provider's key is taken out even if its variable is on the list", () => {
  expect(buildCommandEnv({ A_KEY: "one", EDITOR: "one" }, providers, ["A_KEY"])).not.toMatchObject({
    A_KEY: "one",
  });
  expect(buildCommandEnv({ A_KEY: "one", EDITOR: "one" }, providers)["EDITOR"]).toBeUndefined();
});

test("files that only look like a repository run nothing by `git status`", () => {
  const root = mkdtempSync(join(tmpdir(), "bare-"));
  try {
    for (const name of ["refs", "objects"]) mkdirSync(join(root, name));
    writeFileSync(join(root, "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(
      join(root, "config"),
      `[core]\nrepositoryformatversion = 0\nbare = false\nworktree = ${root}\nfsmonitor = "touch ${root}/ran; false"\n`,
    );
    const status = (env: NodeJS.ProcessEnv) => {
      rmSync(join(root, "ran"), { force: true });
      try {
        execFileSync("git", ["status"], { cwd: root, env, stdio: "ignore" });
      } catch {
        // Refused is as good as harmless; what counts is the file.
      }
      return execFileSync("ls", { cwd: root, encoding: "utf8" }).includes("ran");
    };
    expect(status(process.env)).toBe(true); // the control: without our settings it does
    expect(status(buildOpenEnv(process.env, {}))).toBe(false);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
