// Labels as they are typed: words, with or without `#`. Pure.
import type { ChangeBody } from "../../client/http/types.ts";

export type LabelChange = Pick<ChangeBody, "add_labels" | "remove_labels">;

export function formatLabels(labels: readonly string[] = []): string {
  return labels.join(" ");
}

/** From the labels that the session had when editing began; undefined if they are the same. */
export function diffLabels(before: readonly string[], text: string): LabelChange | undefined {
  const words = text
    .split(/[\s,]+/)
    .map((word) => word.replace(/^#/, ""))
    .filter((word) => word !== "");
  const add_labels = [...new Set(words)].filter((word) => !before.includes(word));
  const remove_labels = before.filter((label) => !words.includes(label));
  if (add_labels.length === 0 && remove_labels.length === 0) return undefined;
  return {
    ...(add_labels.length === 0 ? {} : { add_labels }),
    ...(remove_labels.length === 0 ? {} : { remove_labels }),
  };
}
