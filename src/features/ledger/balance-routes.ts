import { Type } from "typebox";
import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { balanceSchema, bucketListSchema, presentBalance, presentBucket } from "./balance-schema.ts";
import { listBuckets, readBalance } from "./read-balance.ts";

const tags = ["Balance"];
/** More gifts than accounts have. Buckets that are spent last are omitted. */
const bucketsMax = 100;

export function addBalanceRoutes(
  http: HttpServer,
  dependencies: { database: Database; clock: Clock; currency: string },
): void {
  addGetBalance(http, dependencies);
  addListBuckets(http, dependencies);
}

type BalanceDependencies = Parameters<typeof addBalanceRoutes>[1];

function addGetBalance(http: HttpServer, { database, clock, currency }: BalanceDependencies): void {
  const { config, schema, errors } = describeEndpoint("getBalance", ["unknown_parameter"]);
  http.get(
    "/balance",
    {
      config,
      schema: {
        ...schema,
        summary: "Get the balance",
        description: "Returns the account's balance, the amount on hold, and the rest of its plan's quotas.",
        tags,
        querystring: Type.Object({}, { additionalProperties: false }),
        response: { 200: balanceSchema, ...errors },
      },
    },
    async (request) => {
      const { balance, period } = await readBalance(database, getCaller(request).accountId, clock.now());
      return presentBalance(balance, { currency, period });
    },
  );
}

function addListBuckets(http: HttpServer, { database, clock }: BalanceDependencies): void {
  const { config, schema, errors } = describeEndpoint("listBuckets", ["unknown_parameter"]);
  const description = `Lists the credit buckets of the balance and the quotas (cash, each gift, each quota) with their expiry, in the
order in which they are spent. Returns at most ${bucketsMax}.`;
  http.get(
    "/buckets",
    {
      config,
      schema: {
        ...schema,
        summary: "List credit buckets",
        description,
        tags,
        querystring: Type.Object({}, { additionalProperties: false }),
        response: { 200: bucketListSchema, ...errors },
      },
    },
    async (request) => {
      const buckets = await listBuckets(database, getCaller(request).accountId, clock.now());
      const data = buckets.slice(0, bucketsMax).map(presentBucket);
      return { object: "list" as const, data, has_more: buckets.length > bucketsMax };
    },
  );
}
