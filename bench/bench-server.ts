import { Agent, request } from "node:http";
import { forkServer } from "./fork-server.ts";

export type BenchServer = {
  /** CPU time of the server per request, in microseconds, and the size of the answer. */
  measure(requestCount: number): Promise<{ cpuUs: number; bytes: number }>;
  close(): Promise<void>;
};

const connections = 16;

/** Starts one of the server files of this folder in a separate process. */
export async function startBenchServer(file: string): Promise<BenchServer> {
  const server = await forkServer(file);
  const { port, key } = server;
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

  return {
    async measure(requestCount) {
      const before = await server.readCpuUs();
      let left = requestCount;
      let bytes = 0;
      const work = async (): Promise<void> => {
        for (; left > 0; ) {
          left -= 1;
          bytes = await ask();
        }
      };
      await Promise.all(Array.from({ length: connections }, work));
      return { cpuUs: ((await server.readCpuUs()) - before) / requestCount, bytes };
    },
    async close() {
      agent.destroy();
      await server.close();
    },
  };
}
