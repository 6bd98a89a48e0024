import { type ChildProcess, spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { invariant } from "../../lib/invariant.ts";
import { MediaToolError } from "../media/media-tool-error.ts";
import type { Launchers } from "./find-launchers.ts";
import { type MechanismName, mechanisms } from "./mechanisms.ts";
import { createSeccompFilter } from "./seccomp-filter.ts";
import type { View } from "./view.ts";

export type ConfinedProcessCall = {
  /** What it is called in errors. */
  name: string;
  command: readonly [path: string, ...words: string[]];
  /** All that it knows of its surroundings: nothing of our own environment reaches it. */
  environment: Readonly<Record<string, string>>;
  /** All that it sees of the disk. */
  view: View;
  /** Whether it starts other programs, which are confined as it is. */
  mayFork?: boolean;
  /** Of address space (all that is reserved, threads' stacks too) or of data (what could be written to). */
  memory: { kind: "as" | "data"; bytesMax: number };
  signal: AbortSignal;
  timeoutMs: number;
  /** What it reads from its standard input; `later` where `feed` tells. */
  input?: Readable | Buffer | "later" | undefined;
};

export type RunningProcess = {
  /** What it writes, as fast as that is read. Ends before `ended` is settled. */
  stdout: Readable;
  /** Rejects with a `MediaToolError`, or with the signal's reason, when the process did not do its work. */
  ended: Promise<void>;
  /** Ends the process and all that it started, at once; `ended` rejects with the error. */
  kill(error: Error): void;
  /** Gives it its input, once. */
  feed(input: Readable | Buffer): void;
};

const stderrCharactersMax = 4000;
const niceness = "10";
const openFilesMax = 256;
/** The sound of a video of two hours, uncompressed, is 1.4 GB. */
const writtenBytesMax = 4 * 1024 ** 3;
/** A tool that has seen enough closes its input early: that is its right. */
const closedByReader = ["EPIPE", "ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"];

/** How processes are kept from what is not their business. */
export type Confinement =
  | { kind: "confined"; mechanism: MechanismName; path: string }
  /** The process that started this one is confined, and with it all that it starts. */
  | { kind: "inherited" }
  /** The machine has no way. */
  | { kind: "none"; reason: string };

/** Starts a child process that sees its view and no more, with an end to all it takes, and no life beyond ours. */
export async function spawnConfined(
  call: ConfinedProcessCall,
  { launchers, confinement }: { launchers: Launchers; confinement: Confinement },
): Promise<RunningProcess> {
  call.signal.throwIfAborted();
  for (const path of call.view.writes) await makeMissing(path);
  const filter = confinement.kind === "confined" ? createSeccompFilter({ mayFork: call.mayFork ?? false }) : null;
  const [program = "", ...words] = [...listLimits(call, launchers), ...wrap(call, confinement)];
  const child = spawn(program, words, {
    cwd: "/",
    env: call.environment,
    stdio: [
      call.input === undefined ? "ignore" : "pipe",
      "pipe",
      "pipe",
      ...(filter === null ? [] : ["pipe" as const]),
    ],
    // A group of its own, so that one signal reaches what it started too.
    detached: true,
  });
  if (filter !== null) hand(child, filter);
  return watch(child, call);
}

/** Only what is there can be shown to it. */
async function makeMissing(path: string): Promise<void> {
  const handle = await open(path, "a", 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EISDIR") throw error;
    return null;
  });
  await handle?.close();
}

function wrap({ command, view }: ConfinedProcessCall, confinement: Confinement): readonly string[] {
  if (confinement.kind !== "confined") return command;
  const mechanism = mechanisms.find(({ name }) => name === confinement.mechanism);
  invariant(mechanism !== undefined, "the mechanism is one of the table");
  return mechanism.wrap(confinement.path, command, view);
}

function hand(child: ChildProcess, filter: Buffer): void {
  const stream = child.stdio[3] as Writable;
  // Who ends before it has read its filter has said why.
  stream.on("error", () => {});
  stream.end(filter);
}

function watch(child: ChildProcess, call: ConfinedProcessCall): RunningProcess {
  const { stdin, stdout, stderr } = child;
  invariant(stdout !== null && stderr !== null, "a confined process has pipes");
  let stopped: Error | null = null;
  const kill = (error: Error): void => {
    stopped ??= error;
    killGroup(child);
  };
  const onAbort = (): void => kill(call.signal.reason);
  const timer = setTimeout(() => {
    kill(new MediaToolError("timeout", `${call.name} took longer than ${call.timeoutMs} ms.`));
  }, call.timeoutMs);
  call.signal.addEventListener("abort", onAbort, { once: true });
  const feed = (input: Readable | Buffer): void => {
    invariant(stdin !== null, "who is fed was said to have an input");
    pour(input, stdin, kill);
  };
  if (call.input !== undefined && call.input !== "later") feed(call.input);

  let complaint = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(-stderrCharactersMax);
  });
  child.once("exit", () => {
    // What nobody will read any more must not keep the end from being seen.
    if (stopped !== null) stdout.destroy();
  });
  const ended = new Promise<void>((settle, fail) => {
    child.once("error", (cause) => fail(new MediaToolError("failed", `${call.name} does not start.`, { cause })));
    child.once("close", (code, signalName) => {
      if (stopped !== null) return fail(stopped);
      if (code === 0) return settle();
      const detail = { exitCode: code, signalName, stderr: complaint };
      fail(new MediaToolError("failed", `${call.name} ended with ${code ?? signalName}.`, { detail }));
    });
  }).finally(() => {
    clearTimeout(timer);
    call.signal.removeEventListener("abort", onAbort);
    // Nothing that it started may outlive it, whatever its end was.
    killGroup(child);
  });
  // Whoever only reads the output has no use for this; it is no unhandled rejection.
  ended.catch(() => {});
  return { stdout, ended, kill, feed };
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is gone already.
  }
}

function pour(input: Readable | Buffer, stdin: Writable, kill: (error: Error) => void): void {
  const source = Buffer.isBuffer(input) ? Readable.from([input]) : input;
  pipeline(source, stdin).catch((error: NodeJS.ErrnoException) => {
    if (!closedByReader.includes(error.code ?? "")) kill(error);
  });
}

/** Each of these programs becomes the next one, so that the child's id stays that of the program. */
function listLimits(
  { memory, timeoutMs, view }: ConfinedProcessCall,
  { nice, prlimit, setpriv }: Launchers,
): readonly string[] {
  const cpuSeconds = Math.ceil(timeoutMs / 1000) * availableParallelism();
  const fileBytesMax = view.writes.length === 0 ? 0 : writtenBytesMax;
  return [
    ...(setpriv === null ? [] : [setpriv, "--no-new-privs", "--pdeathsig", "KILL"]),
    ...(nice === null ? [] : [nice, "-n", niceness]),
    ...(prlimit === null
      ? []
      : [
          ...[prlimit, `--${memory.kind}=${memory.bytesMax}`, "--core=0", `--nofile=${openFilesMax}`],
          ...[`--cpu=${cpuSeconds}`, `--fsize=${fileBytesMax}`],
        ]),
  ];
}
