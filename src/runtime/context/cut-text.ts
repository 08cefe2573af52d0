// Shortens a text to a number of estimated tokens, at whole characters.

const BYTES_PER_TOKEN = 4;

/** The beginning and end of the text, within `maxTokens` as estimated. `hint`: how to get the rest. */
export function cutText(text: string, maxTokens: number, hint?: string): string {
  const maxBytes = maxTokens * BYTES_PER_TOKEN;
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text);
  const why = hint === undefined ? "cut here to save space" : `cut here to save space; ${hint}`;
  const mark = `\n[… ${bytes.length} bytes in total, ${why} …]\n`;
  const room = Math.max(0, maxBytes - Buffer.byteLength(mark));
  const head = bytes.subarray(0, wholeCharacter(bytes, Math.floor((room * 2) / 3), -1));
  const tail = bytes.subarray(wholeCharacter(bytes, bytes.length - Math.floor(room / 3), 1));
  return `${head.toString()}${mark}${tail.toString()}`;
}

/** The same with a hard limit: without room for the mark, only the beginning. */
export function capText(text: string, maxTokens: number): string {
  const short = cutText(text, maxTokens);
  const bytes = Buffer.from(short);
  const maxBytes = Math.max(0, maxTokens) * BYTES_PER_TOKEN;
  if (bytes.length <= maxBytes) return short;
  const whole = Buffer.from(text);
  return whole.subarray(0, wholeCharacter(whole, maxBytes, -1)).toString();
}

function wholeCharacter(bytes: Buffer, index: number, step: 1 | -1): number {
  let at = index;
  while (at > 0 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += step;
  return at;
}
