// What a command sees of the home directory, as tables. Everything else is absent: credentials are in too many places to
// list. All paths are relative to the home directory.

/**
 * Programs and their files: read-only, where they exist. Some programs keep logins next to their files: those are not
 * listed, or hidden (hidden-places.ts).
 */
export const TOOLCHAINS: readonly string[] = [
  ...["bin", ".local/bin", ".local/lib", ".local/pipx", ".local/share/pipx", ".linuxbrew"],
  ...[".cargo/bin", ".cargo/env", ".rustup", "go/bin", "sdk", ".goenv", ".local/go"],
  ...[".nvm", ".volta", ".fnm", ".local/share/fnm", ".nodenv", ".n", ".bun/bin", ".deno/bin", "Library/pnpm"],
  ...[
    ".pyenv",
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".local/share/pypoetry",
    ".local/share/virtualenvs",
    ".virtualenvs",
  ],
  ...["miniconda3", "anaconda3", "miniforge3", "mambaforge", ".conda/envs", ".local/share/mamba"],
  ...[
    ".rbenv",
    ".rvm",
    ".gem/ruby",
    ".local/share/gem/ruby",
    ".asdf",
    ".local/share/mise",
    ".sdkman",
    ".jenv",
  ],
  ...[".jdks", ".ghcup", ".cabal/bin", ".opam", ".elan", ".juliaup", ".swiftly", ".zvm"],
  ...["dotnet", "host", "shared", "sdk", "sdk-manifests", "packs", "tools"].map((name) => `.dotnet/${name}`),
  ...["artifacts", "compiled", "environments", "juliaup", "packages", "registries"].map(
    (name) => `.julia/${name}`,
  ),
  ...["Android/Sdk", "Library/Android/sdk", "Library/Developer", ".nix-profile", ".local/state/nix"],
];

/** Roots of toolchains elsewhere in the home directory. */
export const TOOLCHAIN_VARIABLES: readonly string[] = [
  ...[
    "RUSTUP_HOME",
    "GOROOT",
    "NVM_DIR",
    "VOLTA_HOME",
    "FNM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
  ],
  ...["RBENV_ROOT", "GEM_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "SDKMAN_DIR", "JAVA_HOME"],
  ...["MAVEN_HOME", "GRADLE_HOME", "DOTNET_ROOT", "ANDROID_HOME", "ANDROID_SDK_ROOT"],
];

/** Settings: read-only, unless their text looks as if it contained a login. */
export const SETTINGS: readonly string[] = [
  ...[".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"],
  ...[".cargo/config.toml", ".cargo/config", ".config/go/env", ".editorconfig"],
  // Which version of a program to run: without them many of the programs above do not start.
  ...[".tool-versions", ".asdfrc", ".config/mise/config.toml", ".config/mise.toml", ".mise.toml"],
  ...[".node-version", ".nvmrc", ".python-version", ".ruby-version", ".java-version", ".sdkmanrc"],
  ...[".rustfmt.toml", ".config/rustfmt/rustfmt.toml", ".clang-format", ".clang-tidy"],
];

/** Entries of ~/.cache that stay readable: large downloads that programs only read. */
export const SHARED_CACHES: readonly string[] = [
  ...["ms-playwright", "ms-playwright-go", "puppeteer", "Cypress", "selenium", "electron", "prisma", "torch"],
];

export interface Cache {
  /** Of the private directory. */
  name: string;
  path: string;
  /** Also if the user has none yet. */
  isCommon?: true;
  /** Only sources. The user's own is used, read-only, if nothing could be fetched again, or written. */
  isSources?: true;
}

/** Writable. Each is a private directory, so that nothing written there reaches the user's own. */
export const CACHES: readonly Cache[] = [
  { name: "npm", path: ".npm", isCommon: true },
  { name: "cache", path: ".cache", isCommon: true },
  { name: "cargo-registry", path: ".cargo/registry", isCommon: true, isSources: true },
  { name: "cargo-git", path: ".cargo/git", isCommon: true, isSources: true },
  { name: "go-pkg", path: "go/pkg", isSources: true },
  { name: "yarn", path: ".yarn" },
  { name: "pnpm-store", path: ".local/share/pnpm/store" },
  { name: "bun", path: ".bun/install/cache" },
  { name: "gradle", path: ".gradle" },
  { name: "m2", path: ".m2" },
  { name: "ivy2", path: ".ivy2" },
  { name: "nuget", path: ".nuget" },
  { name: "composer", path: ".composer" },
  { name: "pub-cache", path: ".pub-cache" },
  { name: "cabal", path: ".cabal/packages" },
  { name: "stack", path: ".stack" },
];

/** Where `pip install` writes outside a virtual environment. */
export const PYTHON = { name: "python", path: ".demian-python" };
