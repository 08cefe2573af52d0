// When the composer of the page sends: as `sm send` does, which waits for requests, and `sm send --now`, which does not.
import { expect, test } from "vitest";
import { maySend } from "../../web/src/session/may-send.ts";

const writing = { text: "go on", isSending: false, isBlocked: false };

test.each([
  ["a message", writing, [true, true]],
  ["nothing but blanks", { ...writing, text: " \n" }, [false, false]],
  ["a message while another is being sent", { ...writing, isSending: true }, [false, false]],
  ["a message while a request waits", { ...writing, isBlocked: true }, [false, true]],
])("%s: queued or sent, and sent now", (_name, what, [later, now]) => {
  expect([maySend(what, false), maySend(what, true)]).toEqual([later, now]);
});
