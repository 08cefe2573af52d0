// Trims newlines in linear time: `/\n+$/` is quadratic on long runs of newlines, which agents can produce.

export function trimLastNewlines(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 10) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}
