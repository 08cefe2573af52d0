// A repository with everything that makes recording a work tree hard, and random edits of it, all from a seed.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  findGit,
  findRepository,
  openWorkTree,
  type RestoreStep,
  type WorkTree,
} from "../../src/git/index.ts";

export const CAP = 4096;
const HUGE = 200 * 1024 * 1024;
/** "ä" in Latin-1, which is not UTF-8. */
const ODD = Buffer.from([0x6f, 0xe4, 0x2e, 0x74]);

export type Random = (below: number) => number;

export function seedRandom(seed: number): Random {
  let state = (seed * 2_654_435_761) >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export class World {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), "world-")));
  readonly root = join(this.dir, "repo");
  readonly env: Record<string, string>;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
    this.env = {
      PATH: process.env["PATH"] ?? "",
      HOME: this.dir,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@b",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@b",
    };
  }

  git(...args: string[]): string {
    return execFileSync("git", args, {
      cwd: this.root,
      env: this.env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  }

  /** Fails in some states, as an agent's command does. */
  tryGit(...args: string[]): void {
    try {
      this.git(...args);
    } catch {
      // not possible now
    }
  }

  close(): void {
    execFileSync("chmod", ["-R", "u+rwX", this.dir]);
    rmSync(this.dir, { recursive: true, force: true });
  }

  async open(hidden: readonly string[] = []): Promise<WorkTree> {
    const [{ git }, repository] = [await findGit(this.env), await findRepository(this.root)];
    if (git === undefined || repository.root === undefined) throw new Error("no repository");
    const limits = { maxFileBytes: CAP, timeoutMs: 60_000 };
    return openWorkTree({
      git,
      repository,
      env: this.env,
      place: join(this.dir, "state"),
      hidden,
      ...limits,
    });
  }

  /** An edit by the user before the turn: each world has another selection. */
  build(): void {
    mkdirSync(this.root);
    this.git("init", "-q", "-b", "main");
    const has = (chance: number) => this.#random(100) < chance;
    if (has(30)) this.git("config", "core.autocrlf", "true");
    if (has(40)) {
      this.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n*.txt text=auto\n");
      for (const name of ["clean", "smudge"]) this.git("config", `filter.lfs.${name}`, "sed s/real/pointer/");
      this.git("config", "filter.lfs.required", "true");
    }
    this.write(".gitignore", "ignored/\n");
    this.write("ignored/notes", "mine\n");
    for (let n = 0; n < 6; n += 1) this.editOnce();
    this.write("crlf.txt", "a\r\nb\r\n");
    this.write("big.bin", "real content\n");
    if (has(25)) return; // a branch without commits
    this.write("ignored/tracked", "tracked\n");
    this.tryGit("add", "-A");
    this.tryGit("add", "-f", "ignored/tracked");
    this.tryGit("commit", "-q", "-m", "one");
    if (has(40)) this.#nest("inner", true);
    if (has(40)) this.#nest("unborn", false);
    if (has(30)) this.#addSubmodule();
    this.tryGit("checkout", "-q", "-b", "side");
    this.editOnce();
    this.tryGit("commit", "-qam", "two");
    this.tryGit("checkout", "-q", "main");
    this.editOnce();
    if (has(50)) this.tryGit("commit", "-qam", "three");
    if (has(30)) this.tryGit("stash");
    if (has(40)) this.editOnce();
    if (has(40)) this.tryGit("add", "-A");
    if (has(20)) this.tryGit("checkout", "-q", "--detach");
    if (has(30)) this.editOnce();
    if (has(10)) this.#writeHuge();
  }

  write(path: string | Buffer, text: string | Buffer): void {
    const place =
      typeof path === "string" ? join(this.root, path) : Buffer.concat([Buffer.from(`${this.root}/`), path]);
    if (typeof path === "string") mkdirSync(join(this.root, path, ".."), { recursive: true });
    writeFileSync(place, text);
  }

  #nest(name: string, hasCommit: boolean): void {
    const at = join(this.root, name);
    mkdirSync(at, { recursive: true });
    execFileSync("git", ["init", "-q", at], { env: this.env });
    writeFileSync(join(at, "inside"), "x");
    if (hasCommit)
      execFileSync("git", ["-C", at, "commit", "-q", "--allow-empty", "-m", "x"], { env: this.env });
  }

  #addSubmodule(): void {
    const source = join(this.dir, "source");
    execFileSync("git", ["init", "-q", source], { env: this.env });
    execFileSync("git", ["-C", source, "commit", "-q", "--allow-empty", "-m", "x"], { env: this.env });
    this.tryGit("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "module");
    this.tryGit("commit", "-qm", "module");
  }

  #writeHuge(): void {
    writeFileSync(join(this.root, "huge.raw"), "h");
    truncateSync(join(this.root, "huge.raw"), HUGE);
  }

  #name(): string {
    const random = this.#random;
    const folders = ["", "a/", "a/b/", "c/", "ü/", "sp ace/"];
    const names = [
      "one.txt",
      "two.txt",
      "three.bin",
      "b",
      "c",
      "-dash",
      "new\nline",
      "*star",
      '"quoted"',
      "back\\slash",
      ":colon",
    ];
    return `${folders[random(folders.length)]}${names[random(names.length)]}`;
  }

  #content(): string {
    const random = this.#random;
    const lines = Array.from({ length: random(6) }, () => `line ${random(10)}${random(4) === 0 ? "\r" : ""}`);
    return lines.join("\n") + (random(2) === 0 ? "\n" : "");
  }

  /** One random edit, as an editor or a shell would do it. One that the file system refuses is no edit. */
  editOnce(): void {
    const random = this.#random;
    const path = this.#name();
    const place = join(this.root, path);
    const edits: (() => void)[] = [
      () => this.write(path, this.#content()),
      () => this.write(path, this.#content()),
      () => this.write(path, Buffer.from([0, 1, 255, random(256)])),
      () => rmSync(place, { recursive: true, force: true }),
      () => chmodSync(place, random(2) === 0 ? 0o755 : 0o644),
      () => symlinkSync(["one.txt", "a", "../..", "missing", "/etc/passwd"][random(5)] ?? "", place),
      () => renameSync(place, join(this.root, this.#name())),
      () => {
        // a file becomes a directory, or a directory a file
        const isFolder = lstatSync(place).isDirectory();
        rmSync(place, { recursive: true });
        if (isFolder) writeFileSync(place, "was a directory");
        else this.write(`${path}/inner`, "was a file");
      },
      () => {
        rmSync(join(this.root, "a"), { recursive: true, force: true });
        if (random(2) === 0) symlinkSync("c", join(this.root, "a"));
      },
      () => this.write(ODD, this.#content()),
      () => this.write("grows", "x".repeat(random(2 * CAP))),
      () => this.write("ignored/tracked", this.#content()),
      () => this.write("crlf.txt", random(2) === 0 ? "a\nb\n" : "a\r\nb\r\nc\r\n"),
      () => mkdirSync(join(this.root, "empty", String(random(3))), { recursive: true }),
    ];
    try {
      edits[random(edits.length)]?.();
    } catch {
      // the path is taken by something else
    }
  }

  /** What an agent does with git itself. */
  editWithGit(): void {
    const random = this.#random;
    const edits = [
      () => this.tryGit("add", "-A"),
      () => this.tryGit("commit", "-qam", "agent"),
      () => this.tryGit("rebase", "-q", "side"),
      () => this.tryGit("rebase", "--abort"),
      () => this.tryGit("checkout", "-q", "--detach"),
      () => this.tryGit("checkout", "-qf", "side"),
      () => this.tryGit("stash"),
      () => this.tryGit("reset", "-q", "--hard"),
      () => this.tryGit("rm", "-qr", "--cached", "a"),
    ];
    edits[random(edits.length)]?.();
  }

  /** Every file outside nested repositories, as its bytes and its kind; large ones only by size. */
  walk(): Map<string, string> {
    const found = new Map<string, string>();
    const visit = (folder: Buffer, prefix: string): void => {
      for (const entry of readdirSync(folder, { withFileTypes: true, encoding: "buffer" })) {
        const path = prefix + entry.name.toString("latin1");
        const place = Buffer.concat([folder, Buffer.from("/"), entry.name]);
        if (path === ".git" || path === "ignored/notes") continue;
        const info = lstatSync(place);
        if (info.isSymbolicLink()) found.set(path, `link ${readlinkSync(place)}`);
        else if (info.isDirectory()) {
          if (!hasGit(place)) visit(place, `${path}/`);
        } else if (info.size > CAP) found.set(path, "large");
        else
          found.set(
            path,
            `${(info.mode & 0o100) === 0 ? "file" : "program"} ${readFileSync(place).toString("latin1")}`,
          );
      }
    };
    visit(Buffer.from(this.root), "");
    return found;
  }

  /**
   * Everything in `.git`: any change shows, also of times. Except the times of objects: git renews those that it needs, which
   * keeps them from being pruned.
   */
  printGitDir(): string {
    const hash = createHash("sha256");
    const visit = (folder: string): void => {
      for (const name of readdirSync(folder).sort()) {
        const place = join(folder, name);
        const info = lstatSync(place);
        hash.update(
          `${place} ${info.mode} ${info.isDirectory() ? "" : `${place.includes("/objects/") ? "" : info.mtimeMs} ${info.size}`}\n`,
        );
        if (info.isDirectory()) visit(place);
        else hash.update(readFileSync(place));
      }
    };
    visit(join(this.root, ".git"));
    return hash.digest("hex");
  }
}

function hasGit(folder: Buffer): boolean {
  try {
    lstatSync(Buffer.concat([folder, Buffer.from("/.git")]));
    return true;
  } catch {
    return false;
  }
}

/** Back from the second tree to the first, as far as nothing is in the way. Returns what was refused. */
export async function goBack(tree: WorkTree, from: string, to: string): Promise<Map<string, string>> {
  const changes = await tree.compare([from, to], { findsRenames: false });
  const steps = new Map<string, RestoreStep>();
  for (const { path, before, after } of changes) {
    steps.set(path, { path, ...(before && { want: before }), ...(after && { have: after }) });
  }
  const refused = new Map<string, string>();
  for (const step of [...steps.values()]) {
    const why = await tree.findObstacle(step, steps);
    if (why !== undefined) refused.set(step.path, why);
  }
  for (const path of refused.keys()) steps.delete(path);
  await tree.restore([...steps.values()], []);
  return refused;
}
