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
  /** For error messages. */
  name: string;
  command: readonly [path: string, ...words: string[]];
  /** Replaces our environment. */
  environment: Readonly<Record<string, string>>;
  view: View;
  /** Children are confined too. */
  mayFork?: boolean;
  /** `as`: address space, including reservations and thread stacks. `data`: writable memory. */
  memory: { kind: "as" | "data"; bytesMax: number };
  signal: AbortSignal;
  timeoutMs: number;
  /** Standard input; with `later`, call `feed`. */
  input?: Readable | Buffer | "later" | undefined;
};

export type RunningProcess = {
  /** Ends before `ended` settles. */
  stdout: Readable;
  /** Text; already flowing. */
  stderr: Readable;
  /** Rejects with a `MediaToolError` or the signal's reason if the process fails. */
  ended: Promise<void>;
  /** Kills the process and its children; `ended` rejects with the error. */
  kill(error: Error): void;
  /** Call once. */
  feed(input: Readable | Buffer): void;
};

const stderrCharactersMax = 4000;
const niceness = "10";
const openFilesMax = 256;
/** Two hours of uncompressed audio take 1.4 GB. */
const writtenBytesMax = 4 * 1024 ** 3;
/** A tool may close its input early. */
const closedByReader = ["EPIPE", "ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"];

export type Confinement =
  | { kind: "confined"; mechanism: MechanismName; path: string }
  /** This process is confined, so its children are too. */
  | { kind: "inherited" }
  /** The machine has no mechanism. */
  | { kind: "none"; reason: string };

/** Starts a child that sees only its view, has resource limits and dies with us. */
export async function spawnConfined(
  call: ConfinedProcessCall,
  { launchers, confinement }: { launchers: Launchers; confinement: Confinement },
): Promise<RunningProcess> {
  call.signal.throwIfAborted();
  for (const path of call.view.writes) await createIfMissing(path);
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
    // A process group, so that one signal kills its children too.
    detached: true,
  });
  if (filter !== null) hand(child, filter);
  return watch(child, call);
}

/** Only existing paths can be bound. */
async function createIfMissing(path: string): Promise<void> {
  const handle = await open(path, "a", 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EISDIR") throw error;
    return null;
  });
  await handle?.close();
}

function wrap({ command, view }: ConfinedProcessCall, confinement: Confinement): readonly string[] {
  if (confinement.kind !== "confined") return command;
  const mechanism = mechanisms.find(({ name }) => name === confinement.mechanism);
  invariant(mechanism !== undefined, "the mechanism must be in the table");
  return mechanism.wrap(confinement.path, command, view);
}

function hand(child: ChildProcess, filter: Buffer): void {
  const stream = child.stdio[3] as Writable;
  // The process may exit before it reads the filter; `close` reports it.
  stream.on("error", () => {});
  stream.end(filter);
}

function watch(child: ChildProcess, call: ConfinedProcessCall): RunningProcess {
  const { stdin, stdout, stderr } = child;
  invariant(stdout !== null && stderr !== null, "a confined process must have pipes");
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
    invariant(stdin !== null, "feed needs input: later");
    pour(input, stdin, kill);
  };
  if (call.input !== undefined && call.input !== "later") feed(call.input);

  let complaint = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(-stderrCharactersMax);
  });
  child.once("exit", () => {
    // Unread output would delay `close`.
    if (stopped !== null) stdout.destroy();
  });
  const ended = new Promise<void>((settle, fail) => {
    child.once("error", (cause) => fail(new MediaToolError("failed", `${call.name} did not start.`, { cause })));
    child.once("close", (code, signalName) => {
      if (stopped !== null) return fail(stopped);
      if (code === 0) return settle();
      const detail = { exitCode: code, signalName, stderr: complaint };
      fail(new MediaToolError("failed", `${call.name} ended with ${code ?? signalName}.`, { detail }));
    });
  }).finally(() => {
    clearTimeout(timer);
    call.signal.removeEventListener("abort", onAbort);
    // Kill remaining children.
    killGroup(child);
  });
  // Callers that only read the output do not await it.
  ended.catch(() => {});
  return { stdout, stderr, ended, kill, feed };
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has already exited.
  }
}

function pour(input: Readable | Buffer, stdin: Writable, kill: (error: Error) => void): void {
  const source = Buffer.isBuffer(input) ? Readable.from([input]) : input;
  pipeline(source, stdin).catch((error: NodeJS.ErrnoException) => {
    if (!closedByReader.includes(error.code ?? "")) kill(error);
  });
}

/** Each program execs the next, so the child's pid stays the same. */
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
