// A text as one word of a shell, for commands that people are told to run: names of files come from anybody.

const PLAIN = /^[\w@%+=:,./-]+$/;

/** It needs no quotes anywhere, and is no flag. */
export function isPlainWord(text: string): boolean {
  return PLAIN.test(text) && !text.startsWith("-");
}

export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
