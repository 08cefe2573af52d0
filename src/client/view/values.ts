// Shows a value as JSON.

/** Empty for a value that has no JSON form. */
export function formatJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent) ?? "";
  } catch {
    // Nested too deep, or circular: nothing to show.
    return "";
  }
}
