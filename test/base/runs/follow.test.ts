// lane: process
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Follower, READ_BYTES } from "../../../src/base/runs/follow.ts";
import { tempDir } from "../../backends/temp-dir.ts";
import { PATIENT } from "../../support/patience.ts";

const dir = tempDir("follow");
let files = 0;

function follow(
  content: string,
  { offset = 0, seen = () => undefined }: { offset?: number; seen?: (follower: Follower) => void } = {},
): { path: string; follower: Follower; text(): string } {
  files += 1;
  const path = join(dir, `out${files}`);
  writeFileSync(path, content);
  const chunks: string[] = [];
  const follower: Follower = new Follower({
    path,
    offset,
    chunk: (bytes) => {
      chunks.push(bytes.toString());
      seen(follower);
    },
  });
  onTestFinished(() => follower.close());
  return { path, follower, text: () => chunks.join("") };
}

test("nothing is read before `resume`; then what is there, from its offset, and what is added", async () => {
  const { path, follower, text } = follow("old new", { offset: 4 });
  appendFileSync(path, " more");
  expect(text()).toBe("");
  follower.resume();
  await vi.waitFor(() => expect(text()).toBe("new more"), PATIENT);
  appendFileSync(path, " later");
  await vi.waitFor(() => expect(text()).toBe("new more later"), PATIENT);
  expect(follower.offset).toBe("old new more later".length);
});

test("while it is paused nothing is read, and it knows how much there is", async () => {
  const { path, follower, text } = follow("");
  follower.resume();
  follower.pause();
  appendFileSync(path, "12345");
  expect(follower.unreadBytes).toBe(5);
  follower.resume();
  await vi.waitFor(() => expect(text()).toBe("12345"), PATIENT);
  expect(follower.unreadBytes).toBe(0);
});

test("a pause while a chunk is handled ends the reading after it; all of it comes afterwards", async () => {
  const content = "x".repeat(1_000_000);
  let chunks = 0;
  const { follower, text } = follow(content, {
    seen: (self) => {
      chunks += 1;
      if (chunks === 1) self.pause();
    },
  });
  follower.resume();
  await vi.waitFor(() => expect(chunks).toBe(1), PATIENT);
  expect(text().length).toBe(READ_BYTES);
  follower.resume();
  await vi.waitFor(() => expect(text()).toBe(content), PATIENT);
});

test("`drain` reads the rest even if it is paused; a closed one reads nothing", () => {
  const { path, follower, text } = follow("rest");
  follower.drain();
  expect(text()).toBe("rest");
  follower.close();
  appendFileSync(path, "late");
  follower.drain();
  expect(text()).toBe("rest");
});
