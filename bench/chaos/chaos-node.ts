import { createDataDirectory, type GatewayProcess, spawnGateway } from "../../test/harness/gateway-process.ts";
import { waitUntil } from "../../test/harness/wait-until.ts";

/** A gateway of the run: a process that comes and goes, at an address that stays. */
export type ChaosNode = {
  url: string;
  /** Starts it, and does not wait for it. */
  start(): void;
  signal(name: NodeJS.Signals): void;
  /** Until its process has ended. */
  ended(): Promise<void>;
  isReady(): Promise<boolean>;
  /** What all of its processes wrote. */
  log(): string;
  close(): Promise<void>;
};

const stopMsMax = 15_000;

export function createChaosNode(port: string, settings: Record<string, string>): ChaosNode {
  const data = createDataDirectory();
  const environment = { ...settings, SLUICE_DATA_DIR: data.path, SLUICE_PORT: port };
  const url = `http://127.0.0.1:${port}`;
  let log = "";
  let current: { gateway: GatewayProcess; hasEnded: boolean } | null = null;
  const killWithUs = (): void => current?.gateway.kill("SIGKILL");
  process.once("exit", killWithUs);

  const node: ChaosNode = {
    url,
    start() {
      const started = { gateway: spawnGateway({ environment }), hasEnded: false };
      void started.gateway.exited.then(() => {
        started.hasEnded = true;
        log += started.gateway.output();
      });
      current = started;
    },
    signal: (name) => current?.gateway.kill(name),
    ended: async () => void (await current?.gateway.exited),
    isReady: async () => {
      if (current?.hasEnded === true) throw new Error(`A gateway ended by itself: ${log.slice(-2000)}`);
      return await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
        ({ ok }) => ok,
        () => false,
      );
    },
    log: () => log + (current?.hasEnded === false ? current.gateway.output() : ""),
    async close() {
      process.off("exit", killWithUs);
      node.signal("SIGTERM");
      const kill = setTimeout(() => node.signal("SIGKILL"), stopMsMax);
      await node.ended();
      clearTimeout(kill);
      data[Symbol.dispose]();
    },
  };
  return node;
}

export async function waitForReady(nodes: readonly ChaosNode[]): Promise<void> {
  await Promise.all(nodes.map((node) => waitUntil(`${node.url} is ready`, () => node.isReady())));
}
