// Provider, model and agent on the screen: the choices, their effect, and what is shown if there are none.
import { rmSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { chatReply } from "../../support/model-server.ts";
import { usePlace } from "./tui/stage.ts";

const place = usePlace();
const { world, open } = place;

describe("settings", () => {
  test("are in the status line, with their source", async () => {
    const at = await open({ order: { model: "flagged", flags: { sandbox: { mode: "off" } } } });
    expect(at.driver.settings()).toEqual([
      "provider local (config)",
      "model flagged (flag)",
      "agent build (config)",
      `cwd ${world.workspace}`,
      "sandbox off (flag)",
    ]);
  });

  test("p lists providers with their problems, and a chosen one answers next and is remembered", async () => {
    place.model.script(chatReply("ok"));
    const at = await open();
    const options = await at.picker("p").load();
    expect(options.find(({ value }) => value === "local")).toMatchObject({
      detail: "small",
      isCurrent: true,
    });
    expect(options.find(({ value }) => value === "locked")?.problem).toMatch(/NOT_SET_ANYWHERE/);
    await expect(at.picker("p").choose("locked")).rejects.toMatchObject({ code: "missing_key" });
    await at.picker("p").choose("other");
    expect(at.driver.settings().slice(0, 2)).toEqual([
      "provider other (interactive)",
      "model large (config)",
    ]);
    await at.notice(/provider other, model large/);
    expect(at.view.agent.model).toBe("large");
    await at.driver.send("hi");
    await at.turns(1);
    expect(place.model.requests[0]?.body).toMatchObject({ model: "large" });
    expect(at.remembered).toMatchObject([{ provider: { value: "other" }, model: { value: "large" } }]);
  });

  test("m accepts a name that is not in the list, but no sentence", async () => {
    place.model.script(chatReply("ok"));
    const at = await open();
    expect(at.picker("m").takesText).toBe(true);
    await expect(at.picker("m").choose("fix the tests")).rejects.toMatchObject({ code: "bad_model" });
    await at.picker("m").choose("huge");
    await at.driver.send("hi");
    await at.turns(1);
    expect(place.model.requests[0]?.body).toMatchObject({ model: "huge" });
  });

  test("m lists what the account can use, with context and price", async () => {
    place.model.models.list = {
      data: [
        { id: "wide", context_length: 131_072, pricing: { prompt: "0.000003", completion: "0.000015" } },
      ],
    };
    const at = await open();
    expect(await at.picker("m").load()).toEqual([
      { value: "small", label: "small", detail: "configured for local", isCurrent: true },
      { value: "wide", label: "wide", detail: "131.1k context · $3 / $15 per million" },
    ]);
  });

  test("e sets the effort of the next message, and it stays with the next provider", async () => {
    place.model.script(chatReply("ok"), chatReply("ok"));
    const at = await open();
    expect(at.driver.settings()).not.toContain(expect.stringContaining("effort"));
    await expect(at.picker("e").choose("hihg")).rejects.toThrow('no effort "hihg"; did you mean high?');
    await at.picker("e").choose("high");
    await at.notice(/model small, effort high, agent build/);
    await at.driver.send("hi");
    await at.turns(1);
    await at.picker("p").choose("other");
    expect(at.driver.settings()).toContain("effort high (interactive)");
    await at.driver.send("hi");
    await at.turns(2);
    expect(place.model.requests.map(({ body }) => body)).toEqual([
      expect.objectContaining({ model: "small", reasoning_effort: "high" }),
      expect.objectContaining({ model: "large", reasoning_effort: "high" }),
    ]);
  });

  test("a provider without a model waits for one", async () => {
    place.model.script(chatReply("ok"));
    const at = await open();
    await at.picker("p").choose("bare");
    await at.notice(/press m/);
    await expect(at.driver.send("hi")).rejects.toMatchObject({ code: "no_model" });
    await at.picker("m").choose("tiny");
    await at.driver.send("hi");
    await at.turns(1);
    expect(place.model.requests[0]?.body).toMatchObject({ model: "tiny" });
  });

  test("a lists the agents that can chat", async () => {
    const at = await open();
    const names = (await at.picker("a").load()).map(({ value }) => value);
    expect(names).toEqual(expect.arrayContaining(["build", "plan"]));
    await at.picker("a").choose("plan");
    expect(at.driver.settings()[2]).toBe("agent plan (interactive)");
  });

  test("a start without a usable provider reports it, and selecting one fixes it", async () => {
    place.model.script(chatReply("ok"));
    const at = await open({ order: { provider: "locked" } });
    await at.notice(/NOT_SET_ANYWHERE[\s\S]*press p to select another provider/);
    await expect(at.driver.send("hi")).rejects.toMatchObject({ code: "missing_key" });
    await at.picker("p").choose("local");
    await at.driver.send("hi");
    expect(await at.turns(1)).toMatchObject({ subtype: "success" });
  });
});

describe("a new user without any provider", () => {
  beforeEach(() => rmSync(world.configFile));

  test("sees what is missing and what to do", async () => {
    const at = await open();
    const { text, level } = await at.notice(/No provider is ready yet/);
    expect(level).toBe("error");
    expect(text).toMatch(/OPENAI_API_KEY[\s\S]*\(ollama, [\s\S]*demian --demo[\s\S]*demian doctor/);
  });

  test("sending a message reports the missing key, and not the model that is missing too", async () => {
    const at = await open();
    await expect(at.driver.send("hi")).rejects.toMatchObject({
      code: "missing_key",
      message: expect.stringMatching(/OPENAI_API_KEY/),
    });
  });
});
