import { type ChildProcess, spawn } from "node:child_process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { invariant } from "../../lib/invariant.ts";
import type { Launchers } from "./find-media-tools.ts";
import { MediaToolError } from "./media-tool-error.ts";

export type LimitedProcessCall = {
  /** What it is called in errors. */
  name: string;
  command: readonly [path: string, ...words: string[]];
  /** All that it knows of its surroundings: nothing of our own environment reaches it. */
  environment: Readonly<Record<string, string>>;
  launchers: Launchers;
  /** Of address space (all that is reserved, threads' stacks too) or of data (what could be written to). */
  memory: { kind: "as" | "data"; bytesMax: number };
  signal: AbortSignal;
  timeoutMs: number;
  /** What it reads from its standard input. */
  input?: Readable | Buffer | undefined;
};

export type RunningProcess = {
  /** What it writes, as fast as that is read. Ends before `ended` is settled. */
  stdout: Readable;
  /** Rejects with a `MediaToolError`, or with the signal's reason, when the process did not do its work. */
  ended: Promise<void>;
  /** Ends the process and all that it started, at once; `ended` rejects with the error. */
  kill(error: Error): void;
};

const stderrCharactersMax = 4000;
const niceness = "10";
const openFilesMax = 256;
/** A tool that has seen enough closes its input early: that is its right. */
const closedByReader = ["EPIPE", "ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"];

/** Starts a child process with an end to its time and memory, low priority, and no life beyond ours. */
export function startLimitedProcess(call: LimitedProcessCall): RunningProcess {
  call.signal.throwIfAborted();
  const [program = "", ...words] = [...listLimits(call), ...call.command];
  const child = spawn(program, words, {
    cwd: "/",
    env: call.environment,
    stdio: [call.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    // A group of its own, so that one signal reaches what it started too.
    detached: true,
  });
  return watch(child, call);
}

function watch(child: ChildProcess, call: LimitedProcessCall): RunningProcess {
  const { stdin, stdout, stderr } = child;
  invariant(stdout !== null && stderr !== null, "a limited process has pipes");
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
  if (stdin !== null && call.input !== undefined) feed(stdin, call.input, kill);

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
  return { stdout, ended, kill };
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is gone already.
  }
}

function feed(stdin: NodeJS.WritableStream, input: Readable | Buffer, kill: (error: Error) => void): void {
  const source = Buffer.isBuffer(input) ? Readable.from([input]) : input;
  pipeline(source, stdin).catch((error: NodeJS.ErrnoException) => {
    if (!closedByReader.includes(error.code ?? "")) kill(error);
  });
}

/** Each of these programs becomes the next one, so that the child's id stays that of the program. */
function listLimits({ memory, launchers: { nice, prlimit, setpriv } }: LimitedProcessCall): string[] {
  return [
    ...(setpriv === null ? [] : [setpriv, "--pdeathsig", "KILL"]),
    ...(nice === null ? [] : [nice, "-n", niceness]),
    ...(prlimit === null
      ? []
      : [prlimit, `--${memory.kind}=${memory.bytesMax}`, "--core=0", `--nofile=${openFilesMax}`]),
  ];
}
