import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, matchesGlob, relative } from "node:path";
import { listTexts, parseDockerfile, readPairs, type Stage } from "./parse-dockerfile.ts";

type BuildOptions = {
  /** The build context. */
  contextDir: string;
  dockerfile: string;
  /** Contains the root folder of each stage. */
  workDir: string;
};

/**
 * Runs a Dockerfile's steps as root in plain folders, without a builder or registry. The base comes from Debian packages,
 * and this machine's Node replaces that of a `node` image. Returns the last stage's root.
 */
export function buildInFolders({ contextDir, dockerfile, workDir }: BuildOptions): { rootDir: string; stage: Stage } {
  const roots = new Map<string, string>();
  let last: { rootDir: string; stage: Stage } | null = null;
  for (const [index, stage] of parseDockerfile(readFileSync(dockerfile, "utf8")).entries()) {
    const rootDir = join(workDir, stage.name ?? `stage-${index}`);
    makeBase(stage.base, { rootDir, workDir });
    runStage(stage, { rootDir, contextDir, roots });
    roots.set(stage.name ?? String(index), rootDir);
    last = { rootDir, stage };
  }
  if (last === null) throw new Error("The Dockerfile has no FROM.");
  return last;
}

function makeBase(image: string, { rootDir, workDir }: { rootDir: string; workDir: string }): void {
  const [, isNode = "", suite] = /^(?:debian:|(node):\d+-)([a-z]+)-slim$/.exec(image) ?? [];
  if (suite === undefined) throw new Error(`Unsupported base image: ${image}`);
  const pristine = join(workDir, `debian-${suite}`);
  if (!existsSync(pristine)) makeDebian(suite, pristine);
  run("cp", ["-a", pristine, rootDir]);
  cpSync("/etc/resolv.conf", join(rootDir, "etc/resolv.conf"), { dereference: true });
  if (isNode !== "") copyNode(rootDir);
}

/** Excludes manuals and translations, like Debian's slim images. */
function makeDebian(suite: string, folder: string): void {
  const excluded = ["doc", "man", "locale", "info"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  run("mmdebstrap", ["--quiet", "--variant=minbase", ...excluded, suite, folder]);
}

function copyNode(rootDir: string): void {
  const npmCli = realpathSync(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim());
  const npmDir = dirname(dirname(npmCli));
  const node = execFileSync("sh", ["-c", "PATH=/usr/local/bin:/usr/bin command -v node"], { encoding: "utf8" }).trim();
  cpSync(node, join(rootDir, "usr/local/bin/node"), { dereference: true });
  cpSync(npmDir, join(rootDir, "usr/local/lib/node_modules/npm"), { recursive: true });
  run("ln", ["-s", "../lib/node_modules/npm/bin/npm-cli.js", join(rootDir, "usr/local/bin/npm")]);
}

function runStage(
  stage: Stage,
  { rootDir, contextDir, roots }: { rootDir: string; contextDir: string; roots: ReadonlyMap<string, string> },
): void {
  let workDir = "/";
  for (const { word, text } of stage.instructions) {
    if (word === "WORKDIR") {
      workDir = text;
      mkdirSync(join(rootDir, text), { recursive: true });
    } else if (word === "COPY") {
      copy(text, { contextDir, roots, rootDir, workDir });
    } else if (word === "RUN") {
      const environment = readPairs(listTexts(stage, "ENV"));
      runIn(rootDir, { workDir, environment, command: text });
    }
  }
}

function copy(
  text: string,
  {
    contextDir,
    roots,
    rootDir,
    workDir,
  }: { contextDir: string; roots: ReadonlyMap<string, string>; rootDir: string; workDir: string },
): void {
  const [, from, source = "", target = ""] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(text) ?? [];
  const place = join(rootDir, target.startsWith("/") ? target : join(workDir, target));
  if (from !== undefined) {
    run("cp", ["-a", `${roots.get(from)}${source}/.`, ensureFolder(place)]);
    return;
  }
  const ignored = readIgnored(contextDir);
  cpSync(join(contextDir, source), ensureFolder(place), {
    recursive: true,
    filter: (path) => !ignored(relative(contextDir, path)),
  });
}

function ensureFolder(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}

function readIgnored(contextDir: string): (path: string) => boolean {
  const patterns = readFileSync(join(contextDir, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => !/^(#|$)/.test(line));
  return (path) => patterns.some((pattern) => matchesGlob(path, pattern));
}

/** Starts a shell in the folder like a builder: as root, with a minimal environment. */
function runIn(
  rootDir: string,
  { workDir, environment, command }: { workDir: string; environment: Record<string, string>; command: string },
): void {
  const authorities = process.env.NODE_EXTRA_CA_CERTS ?? "";
  const extra = join(rootDir, "tmp/extra-authorities.pem");
  if (authorities !== "") writeFileSync(extra, readFileSync(authorities));
  const mounts = `mount --rbind /dev "${rootDir}/dev" && mount -t proc proc "${rootDir}/proc"`;
  run(
    "unshare",
    [
      "--mount",
      "sh",
      "-c",
      `${mounts} && exec chroot "${rootDir}" sh -c 'cd "$0" && eval "$1"' "$0" "$1"`,
      workDir,
      command,
    ],
    {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: "/root",
      DEBIAN_FRONTEND: "noninteractive",
      ...(authorities === "" ? {} : { NODE_EXTRA_CA_CERTS: "/tmp/extra-authorities.pem" }),
      ...environment,
    },
  );
}

function run(program: string, words: readonly string[], env: NodeJS.ProcessEnv = process.env): void {
  execFileSync(program, words, { env, stdio: ["ignore", "ignore", "inherit"] });
}
