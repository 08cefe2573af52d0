// Where Claude Code keeps its transcripts: <config>/projects/<slug of the cwd>/<session id>.jsonl (2.1.197).
import { homedir } from "node:os";
import { join } from "node:path";

const MAX_SLUG_CHARS = 200;

export type Environment = Readonly<Record<string, string | undefined>>;

export function configDir(env: Environment): string {
  return env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] || homedir(), ".claude");
}

export function projectsDir(env: Environment): string {
  return join(configDir(env), "projects");
}

/** Lossy: every character but letters and digits becomes "-"; a long one is cut and told apart by a hash. */
export function slugOf(cwd: string): string {
  const slug = cwd.replace(/[^a-zA-Z0-9]/g, "-");
  if (slug.length <= MAX_SLUG_CHARS) return slug;
  return `${slug.slice(0, MAX_SLUG_CHARS)}-${Math.abs(hashOf(cwd)).toString(36)}`;
}

export function transcriptPath(env: Environment, cwd: string, id: string): string {
  return join(projectsDir(env), slugOf(cwd), `${id}.jsonl`);
}

/** Claude's own: the 32-bit string hash that Java made common. */
function hashOf(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = ((hash << 5) - hash + text.charCodeAt(index)) | 0;
  }
  return hash;
}
