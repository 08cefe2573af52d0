// Keys of the inbox, besides those of its card; also used by the help page.
export type InboxAction = "first" | "last" | "open";

export const INBOX_KEYS: readonly { keys: readonly string[]; action: InboxAction; what: string }[] = [
  { keys: ["o"], action: "open", what: "Open the session" },
  { keys: ["Home"], action: "first", what: "Oldest request" },
  { keys: ["End"], action: "last", what: "Newest request" },
];
