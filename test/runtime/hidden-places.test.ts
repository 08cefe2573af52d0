import { expect, test } from "vitest";
import { DemianConfig } from "../../src/runtime/config/schema.ts";
import { listHiddenPaths } from "../../src/runtime/hidden-places.ts";

test("logins are hidden where they usually are, where variables say, and where the configuration says", () => {
  const { providers } = DemianConfig.parse({
    providers: { mine: { type: "codex", model: "m", codexHome: "~/elsewhere" } },
  });
  const env = { HOME: "/home/u", CODEX_HOME: "/srv/codex", CLAUDE_CONFIG_DIR: "/srv/claude" };
  expect(listHiddenPaths(env, providers)).toEqual(
    expect.arrayContaining([
      "/home/u/elsewhere",
      "/srv/codex",
      "/srv/claude",
      "/home/u/.claude",
      "/home/u/.codex",
    ]),
  );
});

test("logins are hidden where other programs' variables say, unless that would hide the home directory", () => {
  const named = {
    ...{ HOME: "/home/u", KUBECONFIG: "/srv/kube:/srv/kube2:relative", GNUPGHOME: "/srv/gpg" },
    ...{ CARGO_HOME: "/srv/cargo", DOCKER_CONFIG: "/srv/docker", npm_config_userconfig: "/srv/npmrc" },
    ...{ AWS_SHARED_CREDENTIALS_FILE: "/srv/aws", XDG_CONFIG_HOME: "/srv/config", CLOUDSDK_CONFIG: "/home" },
  };
  const added = listHiddenPaths(named).filter((path) => !listHiddenPaths({ HOME: "/home/u" }).includes(path));
  expect(added).toEqual(
    expect.arrayContaining([
      ...["/srv/kube", "/srv/kube2", "/srv/gpg", "/srv/cargo/credentials", "/srv/cargo/credentials.toml"],
      ...["/srv/docker/config.json", "/srv/npmrc", "/srv/aws", "/srv/config/gh", "/srv/config/gcloud"],
    ]),
  );
  for (const path of added) expect(path).toMatch(/^\/srv\/.+/);
  expect(added).not.toContain("/srv/cargo");
});

test("a login that lies in the home directory itself hides nothing else", () => {
  const places = listHiddenPaths({ HOME: "/home/u", CODEX_HOME: "/home", CLAUDE_CONFIG_DIR: "/home/u" });
  expect(places).toEqual(expect.arrayContaining(["/home/auth.json", "/home/u/.credentials.json"]));
  for (const whole of ["/home", "/home/u"]) expect(places).not.toContain(whole);
});
