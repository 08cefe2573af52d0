// Headers of the dashboard's files, in addition to those of every reply (guard.ts).

/** Only our own files are loaded or run; text becomes HTML only in lit's templates. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types lit-html",
].join("; ");

/** Other sites cannot embed it. */
export const FILE_HEADERS = { "cross-origin-resource-policy": "same-origin" } as const;

export const PAGE_HEADERS = {
  ...FILE_HEADERS,
  "content-security-policy": PAGE_POLICY,
  // A page that opened this one gets no reference to it.
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
} as const;

/** The name changes with the content. */
export const HASHED_HEADERS = {
  ...FILE_HEADERS,
  "cache-control": "public, max-age=31536000, immutable",
} as const;
