import { posix } from "node:path";

/** The repository contents to compare the documents with. */
export type Repository = { files: readonly string[]; scripts: readonly string[] };

const topFolders = ["src", "test", "scripts", "docs", "migrations", "web", "packages", "bench", ".ci"];

/** Names of files that only exist where Sluice runs. */
const runtimeNames = ["sluice.yaml", "catalog.yaml", "manifest.json"];

/** Commands of npm itself; every other `npm x` has to be a script of ours. */
const npmCommands = ["audit", "ci", "config", "exec", "help", "install", "ls", "pack", "view"];

/** Returns an error for each path, npm command and link of a Markdown document that does not exist. */
export function listFalseClaims(document: { path: string; text: string }, repository: Repository): string[] {
  const { path, text } = document;
  const prose = dropBlocks(text);
  return [
    ...listPaths(prose)
      .filter((name) => !isPathThere(name, repository))
      .map((name) => `${path}: there is no ${name}`),
    ...listUnknownCommands(text, repository).map((command) => `${path}: there is no command ${command}`),
    ...listLinks(prose)
      .filter((link) => !isLinkThere(path, link, repository))
      .map((link) => `${path}: the link ${link} leads nowhere`),
  ];
}

/** Returns an error for each link to a missing heading of a Markdown document. */
export function listDeadAnchors(
  { path, text }: { path: string; text: string },
  readDocument: (path: string) => string,
): string[] {
  const links = [...dropBlocks(text).matchAll(/\]\(([^)\s:]*\.md|)#([^)\s]+)\)/g)];
  return links
    .filter(([, target = "", anchor = ""]) => {
      const document = target === "" ? text : readDocument(posix.join(posix.dirname(path), target));
      return !listAnchors(document).includes(anchor);
    })
    .map(([, target, anchor]) => `${path}: ${target}#${anchor} is no heading`);
}

/** GitHub's anchor format: lower case, without punctuation, with hyphens for spaces. */
function listAnchors(document: string): string[] {
  return [...dropBlocks(document).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}

function dropBlocks(text: string): string {
  return text.replaceAll(/^ *(`{3,}|~{3,})[\s\S]*?^ *\1.*$/gm, "");
}

/** The words in backticks that look like repository paths; braces are expanded. */
function listPaths(prose: string): string[] {
  return listCodeSpans(prose)
    .flatMap((span) => span.split(/\s+/))
    .map((word) => word.replace(/^["'(]+/, "").replace(/[#:]\d[\d:-]*$|["'),.:;]+$/g, ""))
    .flatMap(expandBraces)
    .filter(looksLikePath);
}

function listCodeSpans(prose: string): string[] {
  return [...prose.matchAll(/(`+)([^`]+)\1/g)].map(([, , span = ""]) => span);
}

function expandBraces(path: string): string[] {
  const [whole, choices] = path.match(/\{([^{}]*)\}/) ?? [];
  if (whole === undefined || choices === undefined) return [path];
  return choices.split(",").flatMap((choice) => expandBraces(path.replace(whole, choice)));
}

function looksLikePath(word: string): boolean {
  const [top = "", ...rest] = word.split("/");
  if (rest.length > 0) return topFolders.includes(top);
  return /^[\w.-]+\.(md|json|yaml|ts|mjs)$/.test(word) && !runtimeNames.includes(word);
}

/** A bare file name may be in any folder; for a pattern, only the folder has to exist. */
function isPathThere(name: string, { files }: Repository): boolean {
  if (!name.includes("/")) return files.some((file) => posix.basename(file) === name);
  const folders = name.replace(/\/$/, "").split("/");
  const patternAt = folders.findIndex((folder) => /[<*…]|\.\.\./.test(folder));
  const fixed = folders.slice(0, patternAt === -1 ? folders.length : patternAt).join("/");
  return isFileOrFolder(fixed, files);
}

function isFileOrFolder(path: string, files: readonly string[]): boolean {
  return files.some((file) => file === path || file.startsWith(`${path}/`));
}

/** Commands count in code only; "npm installs" is a sentence. */
function listUnknownCommands(text: string, { scripts }: Repository): string[] {
  const blocks = [...text.matchAll(/^ *(`{3,}|~{3,})([\s\S]*?)^ *\1/gm)].map(([, , block = ""]) => block);
  const code = [...listCodeSpans(text.replaceAll(/^ *(`{3,}|~{3,})/gm, "")), ...blocks].join("\n");
  const commands = code.matchAll(/\bnpm((?: +-[\w-]+)*)( +run(?: +-[\w-]+)*)? +([a-z][\w:-]*)/g);
  return [...commands]
    .filter(([, , run, name = ""]) => !scripts.includes(name) && (run !== undefined || !npmCommands.includes(name)))
    .map(([command]) => command);
}

function listLinks(prose: string): string[] {
  const links = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?: +"[^"]*")?\)|^\[[^\]]+\]: +<?(\S+?)>?$/gm)];
  return links.map(([, inline, reference]) => inline ?? reference ?? "").filter((link) => !/^([a-z]+:|#)/i.test(link));
}

function isLinkThere(documentPath: string, link: string, { files }: Repository): boolean {
  const [target = ""] = link.split("#");
  const path = posix.join(target.startsWith("/") ? "." : posix.dirname(documentPath), decodeURI(target));
  return isFileOrFolder(path.replace(/^\/|\/$/g, ""), files);
}
