// The only import of the HTML converter; a file of its own in the build, because most sessions do not need it.
export { convert } from "html-to-text";
