// What a command sees of the home directory: programs and settings, and no credentials, wherever they are.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildCommandEnv } from "../../../src/runtime/command-env.ts";
import { listHiddenPaths } from "../../../src/runtime/hidden-places.ts";
import { createSandbox, type SandboxPaths } from "../../../src/runtime/sandbox/index.ts";
import type { Sandbox, SandboxConfig } from "../../../src/runtime/sandbox/types.ts";
import { SANDBOX } from "../../support/plain-sandbox.ts";
import { runIn, whyNoSandbox } from "./ground.ts";

const lacking = await whyNoSandbox();
const reason = process.platform === "linux" ? lacking : "these probes are for Linux";
if (reason !== undefined) test.skip(`no home directory was looked into: ${reason}`, () => undefined);

/** Nothing of this is on a list of ours, except that it is not on the list of what is visible. */
const CREDENTIALS = [
  ...[".npmrc", ".yarnrc.yml", ".config/pnpm/rc", ".cargo/credentials", ".cargo/credentials.toml"],
  ...[".claude.json", ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json"],
  ...[".config/gh/hosts.yml", ".config/github-copilot/apps.json", ".copilot/config.json"],
  ...[".terraform.d/credentials.tfrc.json", ".terraformrc", ".aws/credentials", ".aws/sso/cache/x.json"],
  ...[".azure/msal_token_cache.json", ".config/gcloud/credentials.db", ".kube/config", ".docker/config.json"],
  ...[
    ".ssh/id_ed25519",
    ".gnupg/private-keys-v1.d/x.key",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
  ],
  ...[".local/share/keyrings/login.keyring", ".password-store/x.gpg", ".pgpass", ".my.cnf", ".vault-token"],
  ...[".pypirc", ".config/pip/pip.conf", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties"],
  ...[".config/rclone/rclone.conf", ".mozilla/firefox/x/logins.json", ".bash_history", ".zsh_history"],
  ...[".cache/huggingface/token", ".config/some-new-tool/token", ".some-new-tool", "Documents/passwords.txt"],
];

describe.skipIf(reason !== undefined)("in the sandbox the home directory", () => {
  let base = "";
  const at = (path: string) => join(base, path);
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  const open = (config: Partial<SandboxConfig> = {}, paths: Partial<SandboxPaths> = {}): Promise<Sandbox> =>
    createSandbox(
      { ...SANDBOX, ...config },
      {
        root: at("home/work"),
        home: at("home"),
        env: { PATH: "/bin" },
        hide: [],
        cacheDirectory: at("state"),
        ...paths,
      },
    );
  const run = async (sandbox: Sandbox, command: string, cwd = "home/work"): Promise<string> => {
    const env = { PATH: process.env["PATH"] ?? "", HOME: at("home") };
    return (await runIn(sandbox, at(cwd), command, { timeoutMs: 120_000, env })).output;
  };

  beforeEach(() => {
    // Not below /tmp, which is another one in the sandbox.
    base = realpathSync(mkdtempSync("/var/tmp/demian-home-"));
    for (const path of ["home/work", "state"]) mkdirSync(at(path), { recursive: true, mode: 0o700 });
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  test("has no credentials, each of which can be read outside", async () => {
    for (const path of CREDENTIALS) put(`home/${path}`, "TOPSECRET\n");
    const command = `cd; for file in ${CREDENTIALS.join(" ")}; do grep -qs TOPSECRET "$file" && echo "$file"; done; echo ran`;
    expect(await run(await open({ mode: "off" }), command)).toBe(`${[...CREDENTIALS, "ran"].join("\n")}\n`);
    for (const mode of ["workspace-write", "read-only"] as const) {
      expect(await run(await open({ mode }), command)).toBe("ran\n");
      expect(await run(await open({ mode }), "grep -rs TOPSECRET ~; echo ran")).toBe("ran\n");
    }
  });

  test.each<[string, Record<string, string>, string[], string[]]>([
    [
      "among programs",
      {},
      [
        ...["home/.local/share/uv/credentials/credentials.toml", "home/.local/share/gem/credentials"],
        ...["home/.julia/servers/pkg.example/auth.toml", "home/.local/share/pypoetry/auth.toml"],
        ...["home/.dotnet/corefx/cryptography/x509stores/my/x.pfx"],
      ],
      [
        ...[
          "home/.local/share/uv/python/tool",
          "home/.local/share/gem/ruby/tool",
          "home/.julia/packages/tool",
        ],
        ...["home/.dotnet/sdk/tool"],
      ],
    ],
    [
      "in roots of programs that variables name",
      { DOTNET_ROOT: "home/.dotnet", GEM_HOME: "home/.local/share/gem", RUSTUP_HOME: "home/rust" },
      ["home/.dotnet/corefx/cryptography/x509stores/my/x.pfx", "home/.local/share/gem/credentials"],
      ["home/.dotnet/any/tool", "home/.local/share/gem/any/tool", "home/rust/tool"],
    ],
    [
      "where variables say, outside the home directory",
      {
        ...{ CARGO_HOME: "cargo", KUBECONFIG: "kube/config", GNUPGHOME: "gpg", XDG_CONFIG_HOME: "config" },
        ...{ NPM_CONFIG_USERCONFIG: "npmrc", DOCKER_CONFIG: "docker" },
      },
      [
        ...["cargo/credentials.toml", "kube/config", "gpg/private-keys-v1.d/x.key", "config/gh/hosts.yml"],
        ...["npmrc", "docker/config.json"],
      ],
      ["cargo/bin/tool", "config/other/tool"],
    ],
  ])("has no logins %s", async (_where, variables, logins, programs) => {
    for (const path of logins) put(path, "TOPSECRET\n");
    for (const path of programs) put(path, "PROGRAM\n");
    const named = Object.entries(variables).map(([name, path]) => [name, at(path)]);
    const env = { PATH: "/bin", HOME: at("home"), ...Object.fromEntries(named) };
    const places = { env, hide: listHiddenPaths(env) };
    const files = [...logins, ...programs].map(at);
    const command = `for file in ${files.join(" ")}; do grep -qs . "$file" && echo "$file"; done; echo ran`;
    expect(await run(await open({ mode: "off" }, places), command)).toBe(`${[...files, "ran"].join("\n")}\n`);
    const found = await run(await open({}, places), command);
    expect(found).toBe(`${[...programs.map(at), "ran"].join("\n")}\n`);
    // By the contents, under any name.
    expect(await run(await open({}, places), `grep -rs TOPSECRET ${base}; echo ran`)).toBe("ran\n");
  });

  test("has no credentials for a workspace elsewhere, or if it is a link", async () => {
    mkdirSync(at("work"));
    symlinkSync(at("home"), at("me"));
    put("home/.netrc", "TOPSECRET\n");
    const sandbox = await open({}, { root: at("work"), home: at("me") });
    expect(
      await run(sandbox, `cat ~/.netrc ${at("me/.netrc")}; [ -w ~ ] && echo ESCAPED; echo ran`, "work"),
    ).toMatch(/^(?!.*(TOPSECRET|ESCAPED)).*ran\n$/s);
  });

  test("has none that are reached from a workspace around it, except below plain names", async () => {
    for (const path of CREDENTIALS) put(`home/${path}`, "TOPSECRET\n");
    const sandbox = await open({}, { root: at("home") });
    const found = await run(sandbox, "grep -rls TOPSECRET . | sort; echo ran", "home");
    // In places of programs and caches; hidden by name (hidden-places.ts), which this test does not use.
    const left = /^(Documents|\.cargo|\.m2|\.gradle|\.cache|\.gem|\.local)\//;
    expect(found.split("\n").filter((line) => line !== "" && !left.test(line.replace("./", "")))).toEqual([
      "ran",
    ]);
  });

  test("has the programs that are installed there, read-only, also elsewhere if PATH names them", async () => {
    const script = "#!/bin/sh\necho works\n";
    for (const path of [
      ".cargo/bin/tool",
      ".nvm/versions/node/v1/bin/tool",
      "odd/bin/tool",
      "odd/lib/part",
      "apps/tool",
    ]) {
      put(`home/${path}`, script);
      chmodSync(at(`home/${path}`), 0o755);
    }
    put("home/.cargo/credentials.toml", "TOPSECRET\n");
    put("home/odd/private", "TOPSECRET\n");
    symlinkSync(at("home/apps"), at("home/.volta"));
    const env = { PATH: `${at("home/odd/bin")}:/bin` };
    const command = [
      ...["~/.cargo/bin/tool", "~/.nvm/versions/node/v1/bin/tool", "~/odd/bin/tool", "~/.volta/tool"],
      ...["cat ~/odd/lib/part | wc -l", "cat ~/odd/private ~/.cargo/credentials.toml 2>/dev/null"],
      ...["echo evil 2>&1 > ~/.cargo/bin/tool", "echo evil > ~/odd/bin/new", "touch ~/new"],
    ].join("; ");
    const output = await run(await open({}, { env }), command);
    expect(output).toMatch(/^(works\n){4}2\n(.*Read-only file system\n){3}$/);
    expect(readFileSync(at("home/.cargo/bin/tool"), "utf8")).toBe(script);
  });

  test("has the settings of git and cargo, unless they contain a login", async () => {
    put("home/.gitconfig", "[user]\n\tname = Me\n[credential]\n\thelper = store\n");
    put("home/.cargo/config.toml", '[build]\njobs = 2\n[registry]\ntoken = "TOPSECRET"\n');
    put("home/.config/git/config", '[url "https://me:TOPSECRET@host/"]\n\tinsteadOf = host:\n');
    expect(
      await run(
        await open(),
        "git config user.name; cat ~/.cargo/config.toml ~/.config/git/config 2>&1 | wc -l",
      ),
    ).toBe("Me\n2\n");
  });

  test("has the files that git's settings name, so that git answers as it does outside", async () => {
    const paths = "[include]\n\tpath = .gitconfig.work\n[core]\n\texcludesFile = ~/.ignored\n";
    put("home/.gitconfig", `[user]\n\temail = me@home\n${paths}`);
    put("home/.gitconfig.work", "[user]\n\temail = me@work\n");
    put("home/.ignored", "*.swp\n");
    for (const name of ["a.swp", "b"]) put(`home/work/${name}`, "");
    execFileSync("git", ["init", "-q", at("home/work")]);
    const command = "git config user.email; git status --short";
    for (const mode of ["off", "workspace-write"] as const) {
      expect(await run(await open({ mode }), command)).toBe("me@work\n?? b\n");
    }
  });

  test("has what the user made readable, and nothing that is hidden", async () => {
    put("home/.toolrc", "registry=http://localhost\n");
    put("home/notes/a", "note\n");
    const readable = [at("home/.toolrc"), "~/notes"];
    expect(await run(await open({ readable }), "cat ~/.toolrc ~/notes/a; touch ~/notes/b")).toMatch(
      /^registry=http:\/\/localhost\nnote\n.*Read-only file system\n$/,
    );
    await expect(open({ readable: ["~/missing"] })).rejects.toThrow(
      "sandbox.readable: ~/missing does not exist",
    );
    await expect(open({ readable: ["~/"] })).rejects.toThrow("contains your home directory");
    await expect(open({ readable }, { hide: [at("home/notes")] })).rejects.toThrow("is hidden from commands");
  });

  test("has the repository around the workspace, without its environment files", async () => {
    put("home/mono/.git/HEAD", "ref: refs/heads/main\n");
    put("home/mono/.env", "TOPSECRET\n");
    put("home/mono/packages/.env", "TOPSECRET\n");
    put("home/mono/node_modules/x/index.js", "found\n");
    put("home/mono/packages/a/file", "");
    put("home/other/file", "TOPSECRET\n");
    const sandbox = await open({}, { root: at("home/mono/packages/a") });
    const command =
      "cat ../../node_modules/x/index.js ../../.env ../.env ~/other/file; echo x > ../new; echo x > new && cat new";
    const output = await run(sandbox, command, "home/mono/packages/a");
    expect(output).toMatch(
      /^found\n(.*Permission denied\n){2}.*No such file.*\n.*Read-only file system\nx\n$/,
    );
  });

  test("has the repository of a linked worktree, and not what a forged .git file names", async () => {
    const git = (...args: string[]) =>
      execFileSync("git", args, {
        cwd: at("home"),
        stdio: "ignore",
        env: { PATH: process.env["PATH"], HOME: at("home"), ...ME },
      });
    git("init", "main");
    git("-C", "main", "commit", "--allow-empty", "-m", "first");
    git("-C", "main", "worktree", "add", at("home/tree"));
    put("home/main/untracked", "TOPSECRET\n");
    const sandbox = await open({}, { root: at("home/tree") });
    expect(
      await run(sandbox, "git log --format=%s; cat ~/main/untracked 2>/dev/null; echo ran", "home/tree"),
    ).toBe("first\nran\n");
    for (const [name, text] of [
      ["HEAD", "x"],
      ["commondir", "."],
      ["gitdir", at("home/other/.git")],
      ["id", "TOPSECRET"],
      ["objects/x", ""],
    ]) {
      put(`home/.ssh/${name}`, `${text}\n`);
    }
    put("home/work/.git", `gitdir: ${at("home/.ssh")}\n`);
    const command = "cat ~/.ssh/id 2>/dev/null; echo ran";
    expect(await run(await open(), command)).toBe("ran\n");
    // It names this worktree, and is no repository.
    put("home/.ssh/gitdir", `${at("home/work/.git")}\n`);
    rmSync(at("home/.ssh/objects"), { recursive: true });
    expect(await run(await open(), command)).toBe("ran\n");
  });

  test("of another user database entry is emptied too", async () => {
    const registered = realpathSync(
      execFileSync("/bin/sh", ["-c", "getent passwd $(id -u) | cut -d: -f6"], { encoding: "utf8" }).trim(),
    );
    const output = await run(
      await open(),
      `ls -A ${registered} | grep -vxE '(bin|go|sdk|\\..*)'; [ -w ${registered} ] && echo ESCAPED; echo ran`,
    );
    expect(output).toBe("ran\n");
    const visible = await run(await open(), `ls -A ${registered}`);
    for (const name of [".bash_history", ".npmrc", ".claude", ".bashrc"]) {
      if (existsSync(join(registered, name))) expect(visible.split("\n")).not.toContain(name);
    }
  });

  test("is where variables point that commands get", async () => {
    const env = buildCommandEnv(
      { PATH: process.env["PATH"], HOME: at("home"), AWS_SECRET_ACCESS_KEY: "TOPSECRET" },
      {},
    );
    const { output } = await runIn(await open(), at("home/work"), "env", { env });
    expect(output).toContain(`HOME=${at("home")}\n`);
    expect(output).toContain(`PYTHONUSERBASE=${at("home/.demian-python")}\n`);
    expect(output).toMatch(/^PATH=.*\/\.demian-python\/bin$/m);
    expect(output).not.toContain("TOPSECRET");
  });
});

const ME = {
  GIT_AUTHOR_NAME: "me",
  GIT_AUTHOR_EMAIL: "me@x",
  GIT_COMMITTER_NAME: "me",
  GIT_COMMITTER_EMAIL: "me@x",
};
