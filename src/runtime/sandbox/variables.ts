// The environment variables that commands get. A list of those allowed: keys and logins can have any name.

/** Exactly these. */
const NAMES = new Set(
  [
    "PATH HOME USER LOGNAME SHELL PWD HOSTNAME LANG LANGUAGE TZ TMPDIR TMP TEMP",
    "TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES CI DEBIAN_FRONTEND",
    "EDITOR VISUAL PAGER GIT_PAGER GIT_TERMINAL_PROMPT GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL SOURCE_DATE_EPOCH",
    // Networks: addresses with a login are left out below.
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY FTP_PROXY SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE GIT_SSL_CAINFO NODE_EXTRA_CA_CERTS PIP_CERT CARGO_HTTP_CAINFO",
    // Toolchains. Not those that say where caches are: programs must find the private ones.
    "RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS RUSTDOCFLAGS RUST_BACKTRACE RUST_LOG CARGO_TERM_COLOR CARGO_INCREMENTAL",
    "CARGO_BUILD_JOBS CARGO_NET_OFFLINE GOROOT GOFLAGS GOOS GOARCH GO111MODULE GOPROXY GOTOOLCHAIN CGO_ENABLED",
    "NODE_ENV NODE_OPTIONS NODE_PATH NVM_DIR NVM_BIN NVM_INC VOLTA_HOME FNM_DIR npm_config_registry",
    "PYENV_ROOT PYENV_VERSION VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE PYTHONPATH PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PIP_INDEX_URL PIP_NO_INDEX PIP_FIND_LINKS PIP_BREAK_SYSTEM_PACKAGES",
    "UV_PYTHON RBENV_ROOT RBENV_VERSION RUBYOPT GEM_HOME GEM_PATH ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR SDKMAN_DIR",
    "JAVA_HOME JAVA_TOOL_OPTIONS JDK_HOME MAVEN_HOME MAVEN_OPTS GRADLE_HOME GRADLE_OPTS KOTLIN_HOME SCALA_HOME",
    "DOTNET_ROOT DOTNET_CLI_TELEMETRY_OPTOUT ANDROID_HOME ANDROID_SDK_ROOT PERL5LIB",
    "CC CXX CPP LD AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CPATH LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH",
    // Registries and mirrors, and where browsers are in an image.
    "NPM_CONFIG_REGISTRY COREPACK_NPM_REGISTRY PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST UV_INDEX_URL UV_DEFAULT_INDEX",
    "GOPRIVATE GONOPROXY GONOSUMDB GOSUMDB RUSTUP_DIST_SERVER RUSTUP_UPDATE_ROOT RUSTUP_AUTO_INSTALL",
    "PLAYWRIGHT_BROWSERS_PATH PUPPETEER_EXECUTABLE_PATH CHROME_BIN CHROME_PATH PYTHONIOENCODING PYTHONUTF8",
    "MAKEFLAGS MAKE CMAKE_PREFIX_PATH CMAKE_GENERATOR CMAKE_BUILD_PARALLEL_LEVEL CUDA_HOME CUDA_PATH",
    "CUDA_VISIBLE_DEVICES OMP_NUM_THREADS NIX_PATH NIX_PROFILES NIX_SSL_CERT_FILE NIX_LD NIX_LD_LIBRARY_PATH LOCALE_ARCHIVE",
  ].flatMap((line) => line.split(" ")),
);
const LOCALE = /^LC_[A-Z]+$/;
/** An address with a user name or password in it. */
const LOGIN_IN_ADDRESS = /:\/\/[^\s/@]+@/;
/** Options are free text; Java's and Maven's may have logins as properties. */
const OPTIONS = /(OPTS|OPTIONS|FLAGS)$/;
const LOGIN_IN_OPTIONS = /passw|token|secret|api_?key/i;

/** `more`: names from the user's configuration, which are kept whatever they contain. */
export function selectVariables(
  env: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name, value]) => more.includes(name) || (isAllowed(name) && !hasLogin(name, value)),
    ),
  );
}

function isAllowed(name: string): boolean {
  // Proxies are written both ways.
  return NAMES.has(name) || LOCALE.test(name) || (name.endsWith("_proxy") && NAMES.has(name.toUpperCase()));
}

function hasLogin(name: string, value: string): boolean {
  return LOGIN_IN_ADDRESS.test(value) || (OPTIONS.test(name) && LOGIN_IN_OPTIONS.test(value));
}
