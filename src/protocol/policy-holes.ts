// The typed holes of a command template, such as `git show <rev>`. A value that starts with `-` never fits, so that a hole
// cannot become an option.

interface Hole {
  meaning: string;
  /** Undefined: a path, which is compared with the real directory instead. */
  pattern?: RegExp;
}

export const HOLES = {
  rev: {
    meaning: "a Git revision or range, such as `HEAD~2` or `main..topic`; no `:`",
    pattern: /^[A-Za-z0-9_@][A-Za-z0-9_./@~^-]{0,199}$/,
  },
  int: { meaning: "a whole number without sign", pattern: /^(?:0|[1-9][0-9]{0,14})$/ },
  word: { meaning: "letters, digits, `_`, `.` and `-`", pattern: /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$/ },
  "path-within-cwd": {
    meaning:
      "a path whose real location is in the command's directory; no hidden names, no file with a second hard link",
  },
} as const satisfies Record<string, Hole>;
export type HoleName = keyof typeof HOLES;

const HOLE = /^<([^<>]*)>$/;

/** The name between the angle brackets; undefined for a literal word. */
export function readHole(word: string): string | undefined {
  return HOLE.exec(word)?.[1];
}

export function isHoleName(name: string): name is HoleName {
  return Object.hasOwn(HOLES, name);
}

/** Whether the value fits, for all holes but paths. */
export function fitsPattern(name: HoleName, value: string): boolean {
  const { pattern }: Hole = HOLES[name];
  return pattern?.test(value) === true && !value.startsWith("-");
}
