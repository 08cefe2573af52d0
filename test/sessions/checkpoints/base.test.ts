import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openPlace, type Place } from "./place.ts";

const sinceBase = (place: Place) => place.on.manager.changes("s", { from: "base", limit: 9 });
const pathsOf = ({ files }: Awaited<ReturnType<typeof sinceBase>>) => files.map(({ path }) => path);

function commit(place: Place, path: string, text = `${path}\n`): string {
  place.write(path, text);
  place.git("add", "-A");
  place.git("commit", "-q", "-m", path);
  return place.git("rev-parse", "HEAD").trim();
}

test("on the default branch it is where the session began, with what was not committed then", async () => {
  const place = await openPlace();
  place.write("mine.txt", "not committed\n");
  await place.turn(() => void commit(place, "by-agent.txt"));
  const reply = await sinceBase(place);
  expect([reply.base, pathsOf(reply)]).toEqual([{}, ["by-agent.txt"]]);
});

test("on another branch it is where that left the default branch, and follows a rebase", async () => {
  const place = await openPlace();
  const start = place.git("rev-parse", "HEAD").trim();
  place.git("switch", "-q", "-c", "topic");
  commit(place, "earlier.txt");
  await place.turn(() => void commit(place, "by-agent.txt"));
  const before = await sinceBase(place);
  expect(before.base).toEqual({ commit: start, ref: "refs/heads/main" });
  expect(before.files.map(({ path, turns }) => [path, turns])).toEqual([
    ["by-agent.txt", [1]],
    ["earlier.txt", []],
  ]);
  place.git("switch", "-q", "main");
  const moved = commit(place, "upstream.txt");
  place.git("switch", "-q", "topic");
  await place.turn(() => void place.git("rebase", "-q", "main"));
  const after = await sinceBase(place);
  expect([after.base?.commit, pathsOf(after)]).toEqual([moved, ["by-agent.txt", "earlier.txt"]]);
  expect(pathsOf(await place.on.manager.changes("s", { limit: 9 }))).toContain("upstream.txt");
  const { hunks } = await place.on.manager.fileChanges("s", { from: "base", path: "earlier.txt" });
  expect(hunks[0]?.lines).toEqual([{ kind: "add", text: "earlier.txt" }]);
});

test("the remote's default branch is preferred to a local one", async () => {
  const place = await openPlace();
  const start = place.git("rev-parse", "HEAD").trim();
  place.git("update-ref", "refs/remotes/origin/trunk", start);
  place.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk");
  commit(place, "unpushed.txt");
  await place.turn(() => place.write("a.txt", "x\n"));
  const reply = await sinceBase(place);
  expect(reply.base).toEqual({ commit: start, ref: "refs/remotes/origin/trunk" });
  expect(pathsOf(reply)).toEqual(["a.txt", "unpushed.txt"]);
});

test("where git converts files, the comparison begins with the first checkpoint, and says why", async () => {
  const place = await openPlace();
  writeFileSync(join(place.repo, ".gitattributes"), "*.txt text eol=crlf\n");
  place.git("add", "-A");
  place.git("commit", "-q", "-m", "attributes");
  place.git("switch", "-q", "-c", "topic");
  await place.turn(() => place.write("a.txt", "x\r\n"));
  const reply = await sinceBase(place);
  expect(reply.base).toEqual({ reason: expect.stringContaining("git converts files") });
  expect(pathsOf(reply)).toEqual(["a.txt"]);
});

test("in a sparse checkout too: files outside it were not deleted", async () => {
  const place = await openPlace();
  mkdirSync(join(place.repo, "d"));
  mkdirSync(join(place.repo, "e"));
  commit(place, "d/x");
  commit(place, "e/y");
  place.git("sparse-checkout", "set", "d");
  place.git("switch", "-q", "-c", "topic");
  await place.turn(() => place.write("d/x", "2\n"));
  const reply = await sinceBase(place);
  expect([reply.base, pathsOf(reply)]).toEqual([
    { reason: expect.stringContaining("sparse checkout") },
    ["d/x"],
  ]);
});

test("a branch without commits, and a running turn", async () => {
  const place = await openPlace({ isRepository: false });
  place.git("init", "-q", "-b", "main");
  await place.begin();
  place.write("new.txt", "x\n");
  const reply = await sinceBase(place);
  expect([reply.base, pathsOf(reply)]).toEqual([{}, ["new.txt"]]);
  await place.end();
});
