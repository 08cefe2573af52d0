// A git directory of our own for the checkpoints of one session. Its objects are its own; those of the repository are read
// as alternates. So nothing is written into the user's `.git`: no object, no ref, no lock, and nothing of the repository's
// configuration is read.
import { randomBytes } from "node:crypto";
import { link, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CodedError, readErrno } from "../base/coded-error.ts";
import { mapBounded } from "../base/map-bounded.ts";
import { ensurePrivateDir } from "../base/private-file.ts";
import type { Repository } from "./repository.ts";
import type { Git, GitOrder, GitResult } from "./run.ts";
import type { GitSettings } from "./settings.ts";

/** Above all `.gitattributes`: content is stored as it is in the work tree, and compared by git itself. */
const ATTRIBUTES = "* -text !eol !crlf -filter -ident !working-tree-encoding !diff !merge\n";
const INDEX = "index";
const LOOSE = /^[0-9a-f]{2}$/;
const HEX = /^[0-9a-f]{38,62}$/;
const PARALLEL = 64;

type PrivateOrder = Omit<GitOrder, "cwd" | "env"> & { index?: string };

export class PrivateGitDir {
  readonly path: string;
  readonly repository: Repository;
  readonly settings: GitSettings;
  readonly #git: Git;

  constructor(
    path: string,
    { git, repository, settings }: { git: Git; repository: Repository; settings: GitSettings },
  ) {
    this.path = path;
    this.repository = repository;
    this.settings = settings;
    this.#git = git;
  }

  /** Creates what is missing, and removes what a killed process left behind. Throws `git_failed`, errors of the disk. */
  async prepare(): Promise<void> {
    const { commonDir, objectsDir } = this.repository;
    if (/[\n"]/.test(objectsDir)) {
      throw new CodedError("git_failed", `the path ${objectsDir} has a character that git cannot store`);
    }
    await ensurePrivateDir(this.path);
    await Promise.all(
      ["info", "refs", "objects/info"].map((name) =>
        mkdir(join(this.path, name), { recursive: true, mode: 0o700 }),
      ),
    );
    const files: [name: string, text: string][] = [
      ["HEAD", "ref: refs/heads/none\n"],
      ["config", this.#makeConfig()],
      ["info/attributes", ATTRIBUTES],
      ["objects/info/alternates", `${objectsDir}\n`],
    ];
    for (const [name, text] of files) await writeIfChanged(join(this.path, name), text);
    await pointTo(join(this.path, "info", "exclude"), join(commonDir, "info", "exclude"));
    const left = (await readdir(this.path)).filter((name) => name.startsWith(`${INDEX}.`));
    await Promise.all(left.map((name) => rm(join(this.path, name), { force: true })));
  }

  run({ index = INDEX, config = [], ...order }: PrivateOrder): Promise<GitResult> {
    return this.#git.run(this.#complete({ index, config, ...order }));
  }

  expect({ index = INDEX, config = [], ...order }: PrivateOrder): Promise<Buffer> {
    return this.#git.expect(this.#complete({ index, config, ...order }));
  }

  /** A name for another index: the same entries as the current one, if there is one. */
  async copyIndex(): Promise<{ name: string; isEmpty: boolean }> {
    const name = this.nameIndex();
    try {
      // git replaces an index, it never writes into it: a second name keeps its content and its time.
      await link(join(this.path, INDEX), join(this.path, name));
      return { name, isEmpty: false };
    } catch (error) {
      if (readErrno(error) !== "ENOENT") throw error;
      return { name, isEmpty: true };
    }
  }

  nameIndex(): string {
    return `${INDEX}.${randomBytes(6).toString("hex")}`;
  }

  /** Makes it the current one. */
  async keepIndex(name: string): Promise<void> {
    await rename(join(this.path, name), join(this.path, INDEX));
    // Two names of the same file are not replaced by `rename`.
    await this.dropIndex(name);
  }

  async dropIndex(name: string): Promise<void> {
    await rm(join(this.path, name), { force: true });
    await rm(join(this.path, `${name}.lock`), { force: true });
  }

  /** Its own objects; undefined if there are more. */
  async listObjects(most: number): Promise<string[] | undefined> {
    const objects = join(this.path, "objects");
    const found: string[] = [];
    for (const folder of await readdir(objects)) {
      if (!LOOSE.test(folder)) continue;
      // Not those that a killed git has left.
      const names = (await readdir(join(objects, folder))).filter((name) => HEX.test(name));
      found.push(...names.map((name) => join(folder, name)));
      if (found.length > most) return undefined;
    }
    return found;
  }

  hasIndex(): Promise<boolean> {
    return exists(join(this.path, INDEX));
  }

  /** Gets these objects of another one, and its index, without copying them. */
  async adopt(other: PrivateGitDir, objects: readonly string[]): Promise<void> {
    const folders = new Set(objects.map(dirname));
    await Promise.all(
      [...folders].map((folder) => mkdir(join(this.path, "objects", folder), { recursive: true })),
    );
    await mapBounded(objects, PARALLEL, (name) =>
      link(join(other.path, "objects", name), join(this.path, "objects", name)).catch((error: unknown) => {
        if (readErrno(error) !== "EEXIST") throw error;
      }),
    );
    const name = this.nameIndex();
    await link(join(other.path, INDEX), join(this.path, name));
    await this.keepIndex(name);
  }

  /** The next checkpoint looks at every file again. */
  async forgetIndex(): Promise<void> {
    await rm(join(this.path, INDEX), { force: true });
  }

  #complete({
    index,
    config,
    ...order
  }: PrivateOrder & { index: string; config: readonly string[] }): GitOrder {
    const { excludesFile } = this.settings;
    const { root } = this.repository;
    return {
      ...order,
      cwd: root,
      env: { GIT_DIR: this.path, GIT_WORK_TREE: root, GIT_INDEX_FILE: join(this.path, index) },
      config: [
        ...config,
        `core.excludesFile=${excludesFile ?? "/dev/null"}`,
        "core.attributesFile=/dev/null",
      ],
    };
  }

  #makeConfig(): string {
    const { objectFormat, ignoresCase } = this.settings;
    const isOther = objectFormat !== "sha1";
    return [
      "[core]",
      `\trepositoryformatversion = ${isOther ? 1 : 0}`,
      "\tfilemode = true",
      "\tsymlinks = true",
      "\tbare = false",
      `\tignorecase = ${ignoresCase}`,
      `\tprecomposeunicode = ${process.platform === "darwin"}`,
      "\tautocrlf = false",
      "\tcompression = 1",
      "\tfsync = none",
      ...(isOther ? ["[extensions]", `\tobjectformat = ${objectFormat}`] : []),
      "",
    ].join("\n");
  }
}

async function writeIfChanged(path: string, text: string): Promise<void> {
  const before = await readFile(path, "utf8").catch(() => undefined);
  if (before === text) return;
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** So that later changes of the repository's own rules count. */
async function pointTo(path: string, target: string): Promise<void> {
  if (await exists(path)) await rm(path);
  await symlink(target, path);
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
