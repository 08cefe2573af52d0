// Where a remote is hosted, from its URL, and the page on which a pull request is opened there. Pure.

export interface Forge {
  kind: "github" | "gitlab" | "bitbucket" | "other";
  /** `github.com`, with a port if there is one. */
  host: string;
  /** `owner/name`, or deeper on GitLab. */
  repository: string;
}

/** `user@host:path`, which is not a URL. */
const SCP = /^(?:[^@/\s:]+@)?([^@/\s:]+):(?!\/\/)([^\s]+)$/;

/** Undefined if the remote is a directory, or cannot be understood. */
export function readForge(remoteUrl: string): Forge | undefined {
  const [, scpHost, scpPath] = SCP.exec(remoteUrl) ?? [];
  if (scpHost !== undefined && scpPath !== undefined) return toForge(scpHost, scpPath);
  if (!URL.canParse(remoteUrl)) return undefined;
  const { protocol, hostname, host, pathname } = new URL(remoteUrl);
  if (protocol === "https:" || protocol === "http:") return toForge(host, pathname);
  return protocol === "ssh:" || protocol === "git:" ? toForge(hostname, pathname) : undefined;
}

function toForge(host: string, path: string): Forge | undefined {
  const repository = path.replace(/^\/+|\/+$/g, "").replace(/\.git$/, "");
  if (host === "" || !/^[^/]+\/.+$/.test(repository)) return undefined;
  const kind = (["github", "gitlab", "bitbucket"] as const).find((name) => host.includes(name)) ?? "other";
  return { kind, host, repository };
}

/** The page that compares the branches and offers to open a pull request. */
export function makeCompareLink({ kind, host, repository }: Forge, base: string, branch: string): string {
  const page = new URL(`https://${host}/`);
  const [from, to] = [encodeBranch(branch), encodeBranch(base)];
  if (kind === "gitlab") {
    page.pathname = `/${repository}/-/merge_requests/new`;
    page.searchParams.set("merge_request[source_branch]", branch);
    page.searchParams.set("merge_request[target_branch]", base);
  } else if (kind === "bitbucket") {
    page.pathname = `/${repository}/pull-requests/new`;
    page.searchParams.set("source", branch);
    page.searchParams.set("dest", base);
  } else {
    // Also Gitea and Forgejo.
    page.pathname = `/${repository}/compare/${to}...${from}`;
    if (kind === "github") page.searchParams.set("expand", "1");
  }
  return page.href;
}

function encodeBranch(branch: string): string {
  return branch.split("/").map(encodeURIComponent).join("/");
}
