// Which addresses of a text become links. An agent's text is written by others: a link leads to the web or to a mail,
// and where it leads is shown beside what it says.

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** The address as the browser will take it (host in punycode), or undefined when it must not be a link. */
export function safeLink(href: string): string | undefined {
  // Browsers drop these from an address, so that it would not be what is written.
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

/** Whether the text of a link already says where it leads. */
export function saysAddress(text: string, address: string): boolean {
  const bare = (value: string): string =>
    value
      .trim()
      .replace(/^mailto:/, "")
      .replace(/\/$/, "");
  return bare(text) === bare(address);
}
