// Shortens a long text to its start and end, with the number of characters omitted between.

/** At most about `maxChars`; never splits a character. */
export function cutExcerpt(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const headChars = Math.ceil((maxChars * 2) / 3);
  const head = text.slice(0, headChars).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(text.length - (maxChars - headChars)).replace(/^[\udc00-\udfff]/, "");
  return `${head} […${text.length - head.length - tail.length} characters omitted…] ${tail}`;
}
