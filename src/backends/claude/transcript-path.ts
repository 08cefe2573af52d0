// The file in which Claude Code keeps a conversation: <projects>/<slug of the cwd>/<session id>.jsonl (2.1.197). Pure.

const MAX_SLUG_CHARS = 200;

/** Lossy: every character but letters and digits becomes "-"; a long one is cut and told apart by a hash. */
export function slugOf(cwd: string): string {
  const slug = cwd.replace(/[^a-zA-Z0-9]/g, "-");
  if (slug.length <= MAX_SLUG_CHARS) return slug;
  return `${slug.slice(0, MAX_SLUG_CHARS)}-${Math.abs(hashOf(cwd)).toString(36)}`;
}

export function transcriptPath(projects: string, cwd: string, id: string): string {
  return `${projects}/${slugOf(cwd)}/${id}.jsonl`;
}

/** Claude's own: the 32-bit string hash that Java made common. */
function hashOf(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = ((hash << 5) - hash + text.charCodeAt(index)) | 0;
  }
  return hash;
}
