// Where variables of the user's environment say that logins are, instead of in the home directory.
import { delimiter, isAbsolute, join } from "node:path";
import type { Env } from "./state-dir.ts";

/** Each names a file, or a directory that has nothing else. */
const PLACES = [
  ...["GNUPGHOME", "PASSWORD_STORE_DIR", "CLOUDSDK_CONFIG", "AZURE_CONFIG_DIR", "UV_CREDENTIALS_DIR"],
  ...["AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE"],
  ...["GOOGLE_APPLICATION_CREDENTIALS", "NETRC", "PGPASSFILE", "PIP_CONFIG_FILE", "RCLONE_CONFIG"],
  ...["NPM_CONFIG_USERCONFIG", "npm_config_userconfig", "NPM_CONFIG_GLOBALCONFIG", "npm_config_globalconfig"],
  ...["TF_CLI_CONFIG_FILE", "HF_TOKEN_PATH", "KUBECONFIG", "BUNDLE_USER_CONFIG"],
];

/** Files in the directory that the variable names. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  CARGO_HOME: ["credentials", "credentials.toml"],
  DOCKER_CONFIG: ["config.json"],
  GH_CONFIG_DIR: ["hosts.yml"],
  GRADLE_USER_HOME: ["gradle.properties"],
  HF_HOME: ["token", "stored_tokens"],
  GEM_HOME: ["credentials"],
  JULIA_DEPOT_PATH: ["servers"],
  DOTNET_ROOT: ["corefx/cryptography"],
  DOTNET_CLI_HOME: [".dotnet/corefx/cryptography"],
  XDG_DATA_HOME: ["keyrings", "gem/credentials", "uv/credentials", "opencode"],
  XDG_CONFIG_HOME: [
    ...["git/credentials", "gcloud", "gh", "op", "pnpm/rc", "pip", "github-copilot", "rclone"],
    ...["google-chrome", "chromium", "pypoetry/auth.toml"],
  ],
};

/** Absolute paths. */
export function listNamedCredentials(env: Env): string[] {
  const read = (name: string) => (env[name] ?? "").split(delimiter).filter((path) => isAbsolute(path));
  return [
    ...PLACES.flatMap(read),
    ...Object.entries(FILES).flatMap(([name, files]) =>
      read(name).flatMap((directory) => files.map((file) => join(directory, file))),
    ),
  ];
}
