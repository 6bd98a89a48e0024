import { Type } from "typebox";
import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { balanceSchema, bucketListSchema, presentBalance, presentBucket } from "./balance-schema.ts";
import { listBuckets } from "./list-buckets.ts";
import { readBalance } from "./read-balance.ts";

type BalanceRouteDependencies = { database: Database; clock: Clock; currency: string };

const tags = ["Balance"];
/** More gifts than anybody is given; those that are spent last are left out. */
const bucketsMax = 100;

export function addBalanceRoutes(http: HttpServer, dependencies: BalanceRouteDependencies): void {
  addGetBalance(http, dependencies);
  addListBuckets(http, dependencies);
}

function addGetBalance(http: HttpServer, { database, clock, currency }: BalanceRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("getBalance", ["unknown_parameter"]);
  http.get(
    "/balance",
    {
      config,
      schema: {
        ...schema,
        summary: "Get the balance",
        description: "What the account has, what of it is on hold, and what is left of its plan's quotas.",
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

function addListBuckets(http: HttpServer, { database, clock }: BalanceRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("listBuckets", ["unknown_parameter"]);
  const description = `What the balance and the quotas are made of: cash, each gift and each quota, with when it expires, in the
order in which they are spent. At most ${bucketsMax}.`;
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
