// Finds and masks secrets with a recognizable format. Pure.

/** The end marker is optional. */
export const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!-)){0,20000}(?:-----END [A-Z ]{0,40}-----)?/;
/** Not in the middle of a word. */
const START = "(?<![A-Za-z0-9_-])";

export type SecretShape = readonly [shape: RegExp, name: string];

/** Each pattern is bounded and cannot start twice in one run of characters, so matching is linear. */
const SECRETS: readonly SecretShape[] = [
  [new RegExp(PRIVATE_KEY, "g"), "private key"],
  [new RegExp(`${START}sk-(?=[A-Za-z_-]{0,200}\\d)[A-Za-z0-9_-]{20,200}`, "g"), "API key"],
  [new RegExp(`${START}(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,200}`, "g"), "Stripe key"],
  [new RegExp(`${START}gh[pousr]_[A-Za-z0-9]{36,255}`, "g"), "GitHub token"],
  [new RegExp(`${START}github_pat_[A-Za-z0-9_]{22,255}`, "g"), "GitHub token"],
  [new RegExp(`${START}glpat-[A-Za-z0-9_-]{20,100}`, "g"), "GitLab token"],
  [new RegExp(`${START}npm_[A-Za-z0-9]{36}`, "g"), "npm token"],
  [new RegExp(`${START}(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])`, "g"), "AWS key"],
  [new RegExp(`${START}xox[abeoprs]-[A-Za-z0-9-]{10,250}`, "g"), "Slack token"],
  [new RegExp(`${START}AIza[A-Za-z0-9_-]{35}`, "g"), "Google key"],
  [new RegExp(`${START}ya29\\.[A-Za-z0-9_-]{20,400}`, "g"), "Google token"],
  [new RegExp(`${START}(?:gsk|hf)_[A-Za-z0-9]{30,100}`, "g"), "API key"],
  [
    new RegExp(`${START}eyJ[A-Za-z0-9_-]{8,4000}\\.eyJ[A-Za-z0-9_-]{8,4000}\\.[A-Za-z0-9_-]{8,4000}`, "g"),
    "JWT",
  ],
];

/** For text that leaves the machine: also what only looks like a secret by its place. */
const SHARED: readonly SecretShape[] = [
  ...SECRETS,
  [
    /(?<=\b[Aa]uthorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:Bearer|Basic|Token) )[^\s"'\\]{8,4000}/g,
    "credentials",
  ],
  [/(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"']{0,100}:)[^\s/:@"']{3,200}(?=@)/g, "password"],
  [
    /(?<=\b[A-Z0-9_]{0,60}(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|PRIVATE_KEY|ACCESS_KEY)[A-Z0-9_]{0,20}=["']?)(?!\[|\$)[^\s"'\\]{8,400}/g,
    "value of a secret variable",
  ],
];

export function maskSecrets(text: string): string {
  return SECRETS.reduce((masked, [shape, name]) => masked.replace(shape, `[${name} masked]`), text);
}

/** The same for text that is shared; `found` is called for each secret, with its kind and how it starts. */
export function maskShared(text: string, found: (name: string, start: string) => void): string {
  return SHARED.reduce(
    (masked, [shape, name]) =>
      masked.replace(shape, (secret) => {
        found(name, secret.slice(0, SHOWN_CHARS));
        return `[${name} masked]`;
      }),
    text,
  );
}

/** Enough to recognize it, too little to use it. */
const SHOWN_CHARS = 4;
