// What a lit template would become, as text, for tests: static HTML unchanged, every value escaped. What a value could
// break out of would show here as markup.
import { nothing } from "lit";

interface Template {
  strings: readonly string[];
  values: readonly unknown[];
}

export function markupOf(value: unknown): string {
  if (value === nothing || value === undefined || value === null || typeof value === "function") return "";
  if (Array.isArray(value)) return value.map(markupOf).join("");
  if (typeof value === "object" && "strings" in value) {
    const { strings, values } = value as Template;
    return strings
      .map((text, index) => text + (index < values.length ? markupOf(values[index]) : ""))
      .join("");
  }
  // guard(): the directive's values are what it depends on and what draws it.
  if (typeof value === "object" && "_$litDirective$" in value) {
    const { values } = value as unknown as { values: readonly unknown[] };
    const draw = values.at(-1);
    return typeof draw === "function" ? markupOf(draw()) : "";
  }
  return String(value).replace(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`);
}
