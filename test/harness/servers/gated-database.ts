import { join } from "node:path";
import { inject } from "vitest";
import { findFreePort } from "../gateway-process.ts";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { openTcpGate, type TcpGate } from "./tcp-gate.ts";

/** A database behind a gate: `url` connects through the gate, `direct` bypasses it. */
export type GatedDatabase = AsyncDisposable & { gate: TcpGate; url: string; direct: TestDatabase };

export async function openGatedDatabase(): Promise<GatedDatabase> {
  const { host, user, password } = inject("databaseServer");
  const direct = await createTestDatabase();
  const port = Number(await findFreePort());
  const gate = await openTcpGate({ port, targetSocket: join(host, ".s.PGSQL.5432") });
  const { pathname } = new URL(direct.url);
  return {
    gate,
    direct,
    url: `postgres://${user}:${password}@127.0.0.1:${port}${pathname}`,
    async [Symbol.asyncDispose]() {
      await gate.close();
      await direct.close();
    },
  };
}
