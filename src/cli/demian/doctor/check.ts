// The result of one check of `demian doctor`.

export interface DemianCheck {
  name: string;
  status: "ok" | "warn" | "fail";
  /** What was found. */
  text: string;
  /** What to do about it. */
  todo?: string;
}
