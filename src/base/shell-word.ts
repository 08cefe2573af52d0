// A text as one word of a shell, for commands that people are told to run: names of files come from anybody.

const PLAIN = /^[\w@%+=:,./][\w@%+=:,./-]*$/;

/** It needs no quotes anywhere. */
export function isPlainWord(text: string): boolean {
  return PLAIN.test(text);
}

export function shellWord(text: string): string {
  return isPlainWord(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
