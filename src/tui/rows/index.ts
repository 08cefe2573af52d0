// The door of the rows: what a session's feed and its requests look like on a screen of a given width. Heavy
// (Markdown, grammars): import it where a screen is drawn, not at start-up.
export { createFeedLayout } from "./feed.ts";
export { requestRows } from "./request-rows.ts";
export type { FeedLayout, FeedOptions, Row, RowTheme } from "./types.ts";
export { cutLine, widthOf, wrapHard, wrapWords } from "./wrap.ts";
