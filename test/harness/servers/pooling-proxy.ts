import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "../wait-until.ts";

const program = "/usr/sbin/haproxy";
/** A killed run must leave nothing behind. */
const endWithUs = existsSync("/usr/bin/setpriv") ? ["/usr/bin/setpriv", "--pdeathsig", "KILL"] : [];

/** Whether tests with a real proxy can run here. */
export const hasProxy = existsSync(program);

export type Proxy = AsyncDisposable & { path: string };

/**
 * A proxy in front of a gateway that sends all clients' requests over one connection: bytes that one request leaves
 * behind are read as the answer to the next client's.
 */
export function startPoolingProxy(gatewayPort: number): Promise<Proxy> {
  return startProxy(
    (path) => `defaults
  mode http
  timeout connect 60s
  timeout client 60s
  timeout server 60s
  timeout queue 60s
  http-reuse always
  option abortonclose
frontend customers
  bind unix@${path}
  default_backend gateway
backend gateway
  server one 127.0.0.1:${gatewayPort} maxconn 1 pool-max-conn 1
`,
  );
}

/** HAProxy with a configuration that binds this path. */
export async function startProxy(writeConfig: (path: string) => string): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-proxy-"));
  const path = join(folder, "proxy.sock");
  const configPath = join(folder, "haproxy.cfg");
  writeFileSync(configPath, writeConfig(path));
  const [first = program, ...words] = [...endWithUs, program, "-db", "-q", "-f", configPath];
  const child = spawn(first, words, { stdio: "ignore" });
  const exited = new Promise((settle) => child.once("exit", settle));
  await waitUntil("the proxy to listen", () => canConnect(path));
  return {
    path,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function canConnect(path: string): Promise<boolean> {
  return await new Promise((settle) => {
    const socket = connect(path, () => {
      socket.destroy();
      settle(true);
    });
    socket.once("error", () => settle(false));
  });
}
