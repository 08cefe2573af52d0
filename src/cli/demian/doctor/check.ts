// What a check of `demian doctor` finds.

export interface Check {
  name: string;
  status: "ok" | "warn" | "fail";
  /** What was found. */
  text: string;
  /** What to do about it. */
  todo?: string;
}
