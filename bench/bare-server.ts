// A bare route of the same framework that sends the same bytes, for comparison.
import type { AddressInfo } from "node:net";
import fastify from "fastify";
import { listOfferedModels } from "../src/features/catalog/catalog-view.ts";
import { presentModelList } from "../src/features/catalog/model-schema.ts";
import { openBenchParts } from "./open-bench-parts.ts";
import { serveOnRequest } from "./serve-on-request.ts";

const parts = await openBenchParts();
const audience = { accountId: "acct_" as const, planId: null, modelIds: null };
const body = JSON.stringify(
  presentModelList(listOfferedModels(parts.catalog.current(), audience, new Date()), "http://localhost:4242"),
);
await parts.close();

const http = fastify();
http.get("/v1/models", async (_request, reply) => reply.type("application/json; charset=utf-8").send(body));
await http.listen({ port: 0, host: "127.0.0.1" });
serveOnRequest({ port: (http.server.address() as AddressInfo).port, key: "", close: () => http.close() });
