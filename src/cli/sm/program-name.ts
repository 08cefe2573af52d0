// The two names of the program. Every text is written for `sm`; under the other name it says that one.

export type ProgramName = "sm" | "blemees";

export function called(text: string, program: ProgramName): string {
  return program === "sm" ? text : text.replace(/(?<![\w./-])sm(?= )/g, program);
}
