import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** A server of this folder in a separate process. */
export type ForkedServer = {
  port: number;
  key: string;
  processId: number;
  readCpuUs(): Promise<number>;
  close(): Promise<void>;
};

export async function forkServer(
  file: string,
  options: { words?: readonly string[]; nodeWords?: readonly string[] } = {},
): Promise<ForkedServer> {
  const child = fork(join(import.meta.dirname, file), options.words ?? [], {
    stdio: "inherit",
    ...(options.nodeWords === undefined ? {} : { execArgv: [...options.nodeWords] }),
  });
  const { port, key } = await receive<{ port: number; key: string }>(child);
  return {
    port,
    key,
    processId: child.pid ?? 0,
    async readCpuUs() {
      child.send("cpu");
      return (await receive<{ cpuUs: number }>(child)).cpuUs;
    },
    async close() {
      child.send("close");
      await once(child, "exit");
    },
  };
}

async function receive<T>(child: ChildProcess): Promise<T> {
  const ended = new AbortController();
  const onExit = (code: number | null): void => ended.abort(new Error(`A server of the bench ended with ${code}.`));
  child.once("exit", onExit);
  try {
    const [message] = await once(child, "message", { signal: ended.signal });
    return message as T;
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    child.off("exit", onExit);
  }
}
