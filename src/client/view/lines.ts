// Ends of texts, in time that grows with the text alone: `/\n+$/` takes the square of a run of newlines that something
// follows, and what agents write decides how long that is.

/** Without the newlines at its end. */
export function withoutLastNewlines(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 10) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}
