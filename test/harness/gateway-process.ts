import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { dataParent } from "./data-parent.ts";
import { repositoryDir } from "./repository-files.ts";
import { waitUntil } from "./wait-until.ts";

const mainFile = join(repositoryDir, "dist/server/main.js");

type ProcessOptions = {
  /** Settings for the process; it inherits none of ours. */
  environment: Record<string, string>;
  /** Words before `node`, such as those that change the user. */
  prefix?: readonly string[];
};

export type GatewayProcess = AsyncDisposable & {
  processId: number;
  /** Everything written to standard output and standard error so far. */
  output(): string;
  /** Writes to its standard input. */
  write(text: string): void;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<number | null>;
};

/** A temporary data directory that is deleted with the test. */
export function createDataDirectory(): Disposable & { path: string } {
  const path = mkdtempSync(join(dataParent, "sluice-data-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Starts `serve` as users do, in a separate process, without waiting for it: `waitForReady` does. */
export function spawnGateway(options: ProcessOptions): GatewayProcess {
  return spawnCommand(["serve"], options);
}

/** Starts a command in a separate process, to be killed midway. */
export function spawnCommand(words: readonly string[], options: ProcessOptions): GatewayProcess {
  const child = spawnMain(words, options);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (piece: string) => {
      output += piece;
    });
  }
  const exited = new Promise<number | null>((settle) => child.once("close", settle));
  return {
    processId: child.pid ?? 0,
    output: () => output,
    write: (piece) => child.stdin?.write(piece),
    kill: (signal) => child.kill(signal),
    exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

export async function startGatewayProcess(options: ProcessOptions): Promise<GatewayProcess> {
  const gateway = spawnGateway(options);
  await waitForReady(gateway);
  return gateway;
}

async function waitForReady(gateway: GatewayProcess): Promise<void> {
  let exitCode: number | null | undefined;
  void gateway.exited.then((code) => {
    exitCode = code;
  });
  await waitUntil("the gateway is ready", () => {
    if (exitCode !== undefined) throw new Error(`The gateway ended with ${exitCode}: ${gateway.output()}`);
    return gateway.output().includes('"msg":"ready"');
  });
}

export type CommandOutcome = { exitCode: number | null; stdout: string; stderr: string };

/** Runs one command to its end. */
export async function runCommand(
  words: readonly string[],
  options: ProcessOptions,
  input = "",
): Promise<CommandOutcome> {
  const child = spawnMain(words, options);
  child.stdin?.end(input);
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout === null ? "" : text(child.stdout),
    child.stderr === null ? "" : text(child.stderr),
    new Promise<number | null>((settle) => child.once("close", settle)),
  ]);
  return { exitCode, stdout, stderr };
}

function spawnMain(words: readonly string[], { environment, prefix = [] }: ProcessOptions): ChildProcess {
  const [program = "", ...rest] = [...prefix, process.execPath, "--min-semi-space-size=8", mainFile, ...words];
  const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  // The gateway's own compile cache, set before its first file: otherwise Node strips that file's types each time.
  const cache = join(tmpdir(), "node-compile-cache");
  // One process on any machine, unless a test is about several.
  const env = { PATH: path, NODE_COMPILE_CACHE: cache, SLUICE_PROCESSES: "1", ...environment };
  return spawn(program, rest, { cwd: tmpdir(), env, stdio: ["pipe", "pipe", "pipe"] });
}

export async function findFreePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (address === null || typeof address === "string") throw new Error("no port");
  return String(address.port);
}
