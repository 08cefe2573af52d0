// Public entry of the row layout. Heavy (Markdown, grammars): import it where a screen is drawn, not at startup.
export { createFeedLayout } from "./feed.ts";
export { drawRequest } from "./request-rows.ts";
export type { FeedLayout, FeedOptions, Row, RowTheme } from "./types.ts";
export { cutLine, wrapHard, wrapWords } from "./wrap.ts";
