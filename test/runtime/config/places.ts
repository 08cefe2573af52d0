// A home, a workspace and a state directory of their own, with the files of a test in them.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ConfigOrder, type LoadedConfig, loadConfig } from "../../../src/runtime/config/load.ts";

export class Places {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "demian-config-")));
  readonly home = join(this.base, "home");
  readonly cwd = join(this.base, "repo");
  readonly env = { HOME: this.home, XDG_STATE_HOME: join(this.base, "state") };
  readonly userFile = join(this.home, ".demian", "config.json");
  readonly projectFile = join(this.cwd, ".demian", "config.json");

  constructor() {
    mkdirSync(this.home);
    mkdirSync(this.cwd);
  }

  user(content: unknown): void {
    this.write(this.userFile, content);
  }

  project(content: unknown): void {
    this.write(this.projectFile, content);
  }

  write(path: string, content: unknown): void {
    mkdirSync(dirname(path), { recursive: true });
    const isText = typeof content === "string" || Buffer.isBuffer(content);
    writeFileSync(path, isText ? content : JSON.stringify(content));
  }

  load(more: Partial<ConfigOrder> = {}): Promise<LoadedConfig> {
    return loadConfig({ cwd: this.cwd, env: this.env, ...more });
  }

  remove(): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}
