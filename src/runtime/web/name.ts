// The name of the tool, which describing a grant needs too.
export const WEB_FETCH = "web_fetch";
