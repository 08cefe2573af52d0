// The output of a command that the user ran with `!`.

/** The output, and how it ended. */
export function formatShellOutput(output: string, end: string): string {
  const gap = output === "" || output.endsWith("\n") ? "" : "\n";
  return `${output}${gap}[${output === "" ? "no output; " : ""}${end}]`;
}
