// The path of a Claude Code transcript: <projects>/<slug of the cwd>/<session id>.jsonl (2.1.197). Pure.

const MAX_SLUG_CHARS = 200;

/** Lossy: every character except letters and digits becomes "-"; a long slug is cut and gets a hash. */
export function toSlug(cwd: string): string {
  const slug = cwd.replace(/[^a-zA-Z0-9]/g, "-");
  if (slug.length <= MAX_SLUG_CHARS) return slug;
  return `${slug.slice(0, MAX_SLUG_CHARS)}-${Math.abs(hashText(cwd)).toString(36)}`;
}

export function toTranscriptPath(projects: string, cwd: string, id: string): string {
  return `${projects}/${toSlug(cwd)}/${id}.jsonl`;
}

/** As in Claude Code: Java's 32-bit string hash. */
function hashText(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = ((hash << 5) - hash + text.charCodeAt(index)) | 0;
  }
  return hash;
}
