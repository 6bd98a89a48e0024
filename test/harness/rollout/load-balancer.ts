import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { repositoryDir } from "../repository-files.ts";
import { startProxy } from "../servers/pooling-proxy.ts";

export type LoadBalancer = AsyncDisposable & {
  /** The socket that callers connect to. */
  path: string;
  /** How many gateways currently receive requests. */
  countUp(): Promise<number>;
};

/** HAProxy with the documented configuration, except for its addresses and a shorter health check interval. */
export async function startLoadBalancer(ports: readonly number[]): Promise<LoadBalancer> {
  const example = readFileSync(join(repositoryDir, "deploy/haproxy.cfg"), "utf8");
  const proxy = await startProxy((path) => {
    const servers = ports.map((port, index) => `  server gateway${index} 127.0.0.1:${port}\n`).join("");
    return `global\n  stats socket ${path}.stats\n${example}`
      .replace("bind :8080", `bind unix@${path}`)
      .replace("inter 1s", "inter 100ms")
      .replace(/( {2}server .*\n)+/, servers);
  });
  return {
    path: proxy.path,
    async countUp() {
      const table = await text(connect(`${proxy.path}.stats`).end("show stat\n"));
      return table.split("\n").filter((line) => /^gateways,gateway\d,.*,UP,/.test(line)).length;
    },
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}
