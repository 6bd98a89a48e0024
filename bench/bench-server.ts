import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { join } from "node:path";

export type BenchServer = {
  /** CPU time that the server spends on one request, in microseconds, and the size of the answer. */
  measure(requestCount: number): Promise<{ cpuUs: number; bytes: number }>;
  close(): Promise<void>;
};

const connections = 16;

/** Starts one of the server files of this folder in a process of its own. */
export async function startBenchServer(file: string): Promise<BenchServer> {
  const child = fork(join(import.meta.dirname, file), { stdio: "inherit" });
  const { port, key } = await receive<{ port: number; key: string }>(child);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });

  function ask(): Promise<number> {
    return new Promise((settle, reject) => {
      const call = request(
        { port, path: "/v1/models", agent, headers: { authorization: `Bearer ${key}` } },
        (answer) => {
          let bytes = 0;
          answer.on("data", (piece: Buffer) => {
            bytes += piece.length;
          });
          answer.on("end", () =>
            answer.statusCode === 200 ? settle(bytes) : reject(new Error(`${answer.statusCode}`)),
          );
        },
      );
      call.on("error", reject).end();
    });
  }

  async function readCpuUs(): Promise<number> {
    child.send("cpu");
    return (await receive<{ cpuUs: number }>(child)).cpuUs;
  }

  return {
    async measure(requestCount) {
      const before = await readCpuUs();
      let left = requestCount;
      let bytes = 0;
      const work = async (): Promise<void> => {
        for (; left > 0; ) {
          left -= 1;
          bytes = await ask();
        }
      };
      await Promise.all(Array.from({ length: connections }, work));
      return { cpuUs: ((await readCpuUs()) - before) / requestCount, bytes };
    },
    async close() {
      agent.destroy();
      child.send("close");
      await once(child, "exit");
    },
  };
}

async function receive<T>(child: ChildProcess): Promise<T> {
  const [message] = await once(child, "message");
  return message as T;
}
