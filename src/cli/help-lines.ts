// Rows of a help text.
import type { Flag } from "./command.ts";

/** Long usages get a line of their own, so that the summaries stay in one column. */
export function usageLines(verbs: readonly { usage: string; summary: string }[]): string[] {
  const width = 28;
  return verbs.flatMap(({ usage, summary }) =>
    usage.length <= width
      ? [`  ${usage.padEnd(width)}  ${summary}`]
      : [`  ${usage}`, `  ${"".padEnd(width)}  ${summary}`],
  );
}

export function flagLines(flags: readonly Flag[]): string[] {
  return flags.map(({ name, short, value, summary }) => {
    const left = `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
    return `  ${left.padEnd(20)}  ${summary}`;
  });
}
