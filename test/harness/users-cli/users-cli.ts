// The users' command line as published: bundled, and run by the machine's own Node, which is older than the gateway's.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { repositoryDir } from "../repository-files.ts";
import { waitUntil } from "../wait-until.ts";

export const cliDir = join(repositoryDir, "packages/cli");

type CliOutcome = { exitCode: number | null; stdout: string; stderr: string };

export type RunningCli = {
  stdout(): string;
  stderr(): string;
  write(text: string): void;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<CliOutcome>;
  /** Waits until the output matches. */
  sees(pattern: RegExp): Promise<RegExpMatchArray>;
};

type RunOptions = { environment?: Record<string, string>; input?: string };

/** A user's home with a working folder; nothing else of the machine is visible. */
export type UsersCli = Disposable & {
  home: string;
  workDir: string;
  credentialsFile: string;
  /** Everything that any run has written. */
  seen(): string;
  run(words: readonly string[], options?: RunOptions): Promise<CliOutcome>;
  start(words: readonly string[], options?: RunOptions): RunningCli;
  /** On its own terminal of this width. */
  startOnTerminal(words: readonly string[], options?: RunOptions & { columns?: number }): RunningCli;
};

/** Bundles the command line into its own folder. */
export function buildUsersCli(): Disposable & { folder: string; program: string } {
  const folder = mkdtempSync(join(tmpdir(), "sluice-cli-"));
  execFileSync(process.execPath, [join(cliDir, "build.ts"), join(folder, "dist")], { stdio: "pipe" });
  return {
    folder,
    program: join(folder, "dist/sluice.js"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A program of the machine, not of the repository's packages. */
export function findOnMachine(name: string): string {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const found = folders.map((folder) => join(folder, name)).find(isExecutable);
  if (found === undefined) throw new Error(`This machine has no ${name} of its own.`);
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function openUsersCli(program: string): UsersCli {
  const home = mkdtempSync(join(tmpdir(), "sluice-home-"));
  const workDir = join(home, "work");
  mkdirSync(workDir);
  const node = findOnMachine("node");
  const seen: string[] = [];

  function launch(command: readonly [string, ...string[]], { environment = {} }: RunOptions): ChildProcess {
    const [file, ...words] = command;
    const env = { PATH: `${home}/bin:/usr/bin:/bin`, HOME: home, LANG: "C.UTF-8", ...environment };
    return spawn(file, words, { cwd: workDir, env, stdio: ["pipe", "pipe", "pipe"] });
  }

  function start(words: readonly string[], options: RunOptions = {}): RunningCli {
    const child = launch([node, program, ...words], options);
    if (options.input !== undefined) child.stdin?.end(options.input);
    return watch(child, seen);
  }

  return {
    home,
    workDir,
    credentialsFile: join(home, ".config/sluice/credentials.json"),
    seen: () => seen.join(""),
    start,
    async run(words, options = {}) {
      return await start(words, { input: "", ...options }).ended;
    },
    startOnTerminal(words, { columns = 100, ...options } = {}) {
      const line = [node, program, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
      const command = `stty cols ${columns}; exec ${line}`;
      const environment = { TERM: "xterm", ...options.environment };
      return watch(launch(["script", "-qec", command, "/dev/null"], { environment }), seen);
    },
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  };
}

function watch(child: ChildProcess, seen: string[]): RunningCli {
  const text = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (piece: string) => {
      text[name] += piece;
      seen.push(piece);
    });
  }
  // A program that ends early leaves its input unread.
  child.stdin?.on("error", () => {});
  const ended = new Promise<CliOutcome>((settle) => {
    child.once("close", (exitCode) => settle({ exitCode, ...text }));
  });
  return {
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    write: (piece) => void child.stdin?.write(piece),
    kill: (signal) => void child.kill(signal),
    ended,
    sees: (pattern) => waitUntil(`${pattern}`, () => `${text.stdout}${text.stderr}`.match(pattern)),
  };
}
