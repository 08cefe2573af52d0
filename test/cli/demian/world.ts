// A home, a workspace, and a configuration whose providers use a model on loopback.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class World {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), "demian-")));
  readonly home = join(this.directory, "home");
  readonly workspace = join(this.directory, "workspace");
  readonly configFile = join(this.home, ".demian/config.json");

  get env(): Record<string, string> {
    return { PATH: process.env["PATH"] ?? "", HOME: this.home };
  }

  /** Resets everything. `more`: merged into the configuration, including its providers. */
  begin(
    url: string,
    { providers = {}, ...more }: { providers?: object } & Record<string, unknown> = {},
  ): void {
    // A process that is exiting may still write something.
    for (const path of [this.home, this.workspace])
      rmSync(path, { recursive: true, force: true, maxRetries: 5 });
    mkdirSync(join(this.home, ".demian"), { recursive: true });
    mkdirSync(this.workspace);
    const provider = { type: "openai-compatible", baseURL: url, apiKey: "k", maxRetries: 0 };
    const config = {
      defaultProvider: "local",
      sandbox: { mode: "off" },
      providers: {
        local: { ...provider, model: "small" },
        other: { ...provider, model: "large" },
        bare: provider,
        locked: { ...provider, model: "m", apiKey: undefined, apiKeyEnv: "NOT_SET_ANYWHERE" },
        ...providers,
      },
      ...more,
    };
    writeFileSync(this.configFile, JSON.stringify(config));
  }

  has(name: string): boolean {
    return existsSync(join(this.workspace, name));
  }

  /** The transcript of the only session. */
  transcript(): { type: string; reason?: string }[] {
    const directory = join(this.workspace, ".demian/transcripts");
    const [session = ""] = readdirSync(directory).filter((name) => name.startsWith("ses_"));
    const text = readFileSync(join(directory, session, "session.jsonl"), "utf8");
    return text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; reason?: string });
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
