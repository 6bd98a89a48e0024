import { createDataDirectory, type GatewayProcess, spawnGateway } from "../../test/harness/gateway-process.ts";
import { waitUntil } from "../../test/harness/wait-until.ts";

/**
 * A gateway of the run: a process that is stopped and started, at a fixed address. If it exits on its own, it is
 * restarted, as by a supervisor.
 */
export type ChaosNode = {
  url: string;
  /** Starts it, without waiting for it. */
  start(): void;
  signal(name: NodeJS.Signals): void;
  /** Resolves when its process has exited. */
  ended(): Promise<void>;
  isReady(): Promise<boolean>;
  /** The output of its processes that had served and then exited on their own. */
  crashes: readonly string[];
  /** The output of all its processes. */
  log(): string;
  close(): Promise<void>;
};

const crashCharactersMax = 2_000;
const stopMsMax = 15_000;
/** Its output when it serves. */
const welcome = "Sluice is running";

export function createChaosNode(port: string, settings: Record<string, string>): ChaosNode {
  const data = createDataDirectory();
  const environment = { ...settings, SLUICE_DATA_DIR: data.path, SLUICE_PORT: port };
  const url = `http://127.0.0.1:${port}`;
  const crashes: string[] = [];
  let log = "";
  let current: { gateway: GatewayProcess; isToEnd: boolean } | null = null;
  const killWithUs = (): void => current?.gateway.kill("SIGKILL");
  process.once("exit", killWithUs);

  function start(): void {
    const started = { gateway: spawnGateway({ environment }), isToEnd: false };
    current = started;
    void started.gateway.exited.then(() => {
      const output = started.gateway.output();
      log += output;
      if (started.isToEnd) return;
      if (output.includes(welcome)) crashes.push(output.slice(-crashCharactersMax));
      start();
    });
  }

  function signal(name: NodeJS.Signals): void {
    if (current === null) return;
    if (name === "SIGKILL" || name === "SIGTERM") current.isToEnd = true;
    current.gateway.kill(name);
  }

  const ended = async (): Promise<void> => void (await current?.gateway.exited);
  return {
    ...{ url, crashes, start, signal, ended },
    isReady: () =>
      fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
        ({ ok }) => ok,
        () => false,
      ),
    log: () => log + (current?.gateway.output() ?? ""),
    async close() {
      process.off("exit", killWithUs);
      signal("SIGTERM");
      const kill = setTimeout(() => signal("SIGKILL"), stopMsMax);
      await ended();
      clearTimeout(kill);
      data[Symbol.dispose]();
    },
  };
}

export async function waitForReady(nodes: readonly ChaosNode[]): Promise<void> {
  await Promise.all(nodes.map((node) => waitUntil(`${node.url} is ready`, () => node.isReady())));
}
