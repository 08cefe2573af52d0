// Which URLs in untrusted text become links: web and mail addresses, with the target shown beside the text.

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** The normalized URL (host in punycode), or undefined if it must not be a link. */
export function safeLink(href: string): string | undefined {
  // Browsers drop these from a URL, so the target would differ from the text.
  if (/[\p{C}\s]/u.test(href)) return undefined;
  let url: URL;
  try {
    url = new URL(href);
  } catch {
    return undefined;
  }
  if (!SCHEMES.has(url.protocol)) return undefined;
  // `https://bank.example@evil.example` reads as another host than it is.
  if (url.username !== "" || url.password !== "") return undefined;
  return url.href;
}

/** Whether the link text already shows the URL. */
export function saysAddress(text: string, address: string): boolean {
  const bare = (value: string): string =>
    value
      .trim()
      .replace(/^mailto:/, "")
      .replace(/\/$/, "");
  return bare(text) === bare(address);
}
