import { setTimeout as wait } from "node:timers/promises";
import type { TcpGate } from "../../test/harness/servers/tcp-gate.ts";
import { waitForReady } from "./chaos-node.ts";
import { draw, shuffle } from "./draw.ts";
import type { World } from "./open-world.ts";

/** A drawn fault: which, where, and for how long. */
export type Fault = { number: number; kind: FaultKind; node: number; lastsMs: number };

type Injection = { world: World; fault: Fault };

const callsHit = 3;

/** The possible faults. Each ends on its own; longer ones are awaited at the end of the run. */
const faultTable = {
  "a gateway is killed": async (injection: Injection) => {
    const node = getNode(injection);
    node.signal("SIGKILL");
    await node.ended();
    node.start();
    await waitForReady([node]);
  },
  "a gateway is stopped and started again": async (injection: Injection) => {
    const node = getNode(injection);
    node.signal("SIGTERM");
    await node.ended();
    node.start();
    await waitForReady([node]);
  },
  "a gateway stands still": async (injection: Injection) => {
    const node = getNode(injection);
    node.signal("SIGSTOP");
    await wait(injection.fault.lastsMs);
    node.signal("SIGCONT");
  },
  "the database's connections are cut": async ({ world }: Injection) => world.databaseGate.cut(),
  "the database is silent": async ({ world, fault }: Injection) => await stall(world.databaseGate, fault),
  "the database is silent, then its connections are cut": async ({ world, fault }: Injection) => {
    await stall(world.databaseGate, fault);
    world.databaseGate.cut();
  },
  "the database's connections stay silent": async ({ world }: Injection) => world.databaseGate.silence("open"),
  "the database is restarted": async ({ world }: Injection) => await world.restartDatabase(),
  "Redis's connections are cut": async ({ world }: Injection) => world.redisGate?.cut(),
  "Redis is silent": async ({ world, fault }: Injection) => {
    if (world.redisGate !== null) await stall(world.redisGate, fault);
  },
  "the upstream refuses": async ({ world }: Injection) => world.upstream.trouble("refuse", callsHit),
  "the upstream limits": async ({ world }: Injection) => world.upstream.trouble("limit", callsHit),
  "the upstream hangs up": async ({ world }: Injection) => world.upstream.trouble("hang-up", callsHit),
  "the upstream breaks off": async ({ world }: Injection) => world.upstream.trouble("break-off", callsHit),
  "the upstream is slow": async ({ world }: Injection) => world.upstream.trouble("slow", callsHit),
  "the webhook receiver refuses": async ({ world }: Injection) => world.receiver.trouble("refuse", callsHit),
  "the webhook receiver hangs": async ({ world }: Injection) => world.receiver.trouble("hang", 1),
} satisfies Record<string, (injection: Injection) => Promise<void>>;

export type FaultKind = keyof typeof faultTable;
const kindsOfGateways: readonly FaultKind[] = [
  "a gateway is killed",
  "a gateway is stopped and started again",
  "a gateway stands still",
];
export const faultKinds = Object.keys(faultTable) as FaultKind[];

/** The faults of a run, the same for the same seed: every kind occurs before one is repeated. */
export function drawFaults(seed: number, { count, nodesCount }: { count: number; nodesCount: number }): Fault[] {
  const rounds = Array.from({ length: Math.ceil(count / faultKinds.length) }, (_, round) =>
    shuffle(seed, `round ${round}`, faultKinds),
  );
  return rounds
    .flat()
    .slice(0, count)
    .map((kind, number) => ({
      ...{ number, kind },
      node: draw(seed, `fault ${number}, node`, nodesCount),
      lastsMs: 300 + draw(seed, `fault ${number}, time`, 1_700),
    }));
}

export type Injector = {
  /** Starts a fault as soon as its gateway has recovered from the previous one. */
  inject(fault: Fault): Promise<void>;
  /** Resolves when everything has recovered. */
  recovered(): Promise<void>;
};

export function createInjector(world: World): Injector {
  /** Pending faults: each gateway and each server has one at a time. */
  const busy = new Map<string, Promise<void>>();
  return {
    async inject(fault) {
      const place = findPlace(fault);
      await busy.get(place);
      const going = faultTable[fault.kind]({ world, fault });
      // The next fault of this target gets the failure.
      going.catch(() => {});
      busy.set(place, going);
    },
    recovered: async () => void (await Promise.all(busy.values())),
  };
}

function findPlace({ kind, node }: Fault): string {
  if (kindsOfGateways.includes(kind)) return `node ${node}`;
  return kind.split(/[ ']/).slice(0, 2).join(" ");
}

function getNode({ world, fault }: Injection): World["nodes"][number] {
  const node = world.nodes[fault.node];
  if (node === undefined) throw new Error(`There is no gateway ${fault.node}.`);
  return node;
}

async function stall(gate: TcpGate, { lastsMs }: Fault): Promise<void> {
  gate.stall();
  await wait(lastsMs);
  gate.goOn();
}
