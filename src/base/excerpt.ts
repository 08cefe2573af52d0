// A part of a long text that stands for it: its beginning and its end, and how much is missing between them.

/** At most about `maxChars`; never half of a character. */
export function excerpt(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const headChars = Math.ceil((maxChars * 2) / 3);
  const head = text.slice(0, headChars).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(text.length - (maxChars - headChars)).replace(/^[\udc00-\udfff]/, "");
  return `${head} […${text.length - head.length - tail.length} characters left out…] ${tail}`;
}
