import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

export type ToldEvent = {
  eventId: string;
  type: string;
  taskId: string;
  isSigned: boolean;
  /** Whether it was answered with success. */
  isTaken: boolean;
};

export type ChaosReceiver = {
  /** The URL for an account's events. */
  getUrl(account: number): string;
  /** Sets the secret that signs an account's events. */
  learnSecret(account: number, secret: string): void;
  /** Every complete delivery, whatever the answer. */
  events: ToldEvent[];
  /** The next deliveries, this many, are answered with 500, or not at all. */
  trouble(kind: "refuse" | "hang", count: number): void;
  /** Ends the trouble. */
  calm(): void;
  close(): Promise<void>;
};

/** A customer's server that verifies events and records them. */
export async function startChaosReceiver(): Promise<ChaosReceiver> {
  const secrets = new Map<string, string>();
  const events: ToldEvent[] = [];
  const troubles: ("refuse" | "hang")[] = [];
  const server = createServer(async (incoming, response) => {
    try {
      const body = await text(incoming);
      const { id, type, data } = JSON.parse(body) as { id: string; type: string; data: { task_id: string } };
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      );
      const isSigned = isValid(secrets.get(incoming.url ?? ""), body, headers) && headers["webhook-id"] === id;
      const trouble = troubles.shift() ?? null;
      events.push({ eventId: id, type, taskId: data.task_id, isSigned, isTaken: trouble === null });
      if (trouble !== "hang") response.writeHead(trouble === "refuse" ? 500 : 204).end();
    } catch {
      // The sending gateway was killed midway.
      response.destroy();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    getUrl: (account) => `http://127.0.0.1:${port}/account-${account}`,
    learnSecret: (account, secret) => void secrets.set(`/account-${account}`, secret),
    events,
    trouble: (kind, count) => troubles.push(...Array.from({ length: count }, () => kind)),
    calm: () => void troubles.splice(0),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function isValid(secret: string | undefined, body: string, headers: Record<string, string>): boolean {
  if (secret === undefined) return false;
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    // The library's reason does not matter here.
    return false;
  }
}
