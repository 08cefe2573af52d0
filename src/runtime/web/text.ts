// The text of a page: HTML without scripts, menus and pictures, other text as it is.
import type { WebPage } from "./request.ts";

const MAX_DEPTH = 100;

export async function extractText(page: WebPage): Promise<string> {
  const text = decodeText(page);
  if (page.type !== "text/html" && page.type !== "application/xhtml+xml") return text;
  // Loaded with the first page.
  const { convert } = await import("./html.ts");
  return convert(text, {
    wordwrap: false,
    limits: { maxDepth: MAX_DEPTH, ellipsis: "…" },
    selectors: [
      ...["img", "script", "style", "noscript", "template", "svg", "nav", "footer", "form", "iframe"].map(
        (selector) => ({ selector, format: "skip" }),
      ),
      {
        selector: "a",
        options: { baseUrl: page.url.origin, hideLinkHrefIfSameAsText: true, noAnchorUrl: true },
      },
      ...["h1", "h2", "h3", "h4"].map((selector) => ({ selector, options: { uppercase: false } })),
    ],
  });
}

function decodeText({ bytes, charset }: WebPage): string {
  try {
    return new TextDecoder(charset ?? "utf-8").decode(bytes);
  } catch {
    return bytes.toString("utf8"); // an encoding that nobody knows
  }
}
