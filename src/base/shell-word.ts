// Quotes text as one shell word, for commands shown to users: file names are untrusted.

const PLAIN = /^[\w@%+=:,./-]+$/;

/** Whether it needs no quotes and is not a flag. */
export function isPlainWord(text: string): boolean {
  return PLAIN.test(text) && !text.startsWith("-");
}

export function quoteShellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
