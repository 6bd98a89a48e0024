import { Type } from "typebox";
import { findNearest } from "../../../lib/nearest-word.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import {
  findCatalog,
  listUpstreams,
  listVendorBalances,
  listVendorLimits,
  recordUpstreamTest,
} from "../../catalog/index.ts";
import { summarizeUpstreams } from "../../requests/index.ts";
import { listFields, presentPage } from "../../usage/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing, nameActor } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { parseMoment } from "../edge/moment-field.ts";
import { switchUpstreamAsOperator } from "./change-upstream.ts";
import { examineProvider } from "./examine-provider.ts";
import { loadUpstreamSecrets } from "./load-upstream-secrets.ts";
import { listReadyCatalogs } from "./ready-catalogs.ts";
import {
  eventIdPattern,
  eventListSchema,
  parseEventPlace,
  presentBalance,
  presentEvent,
  presentFindings,
  presentTraffic,
  presentUpstream,
  presentVendor,
  switchBodySchema,
  switchedSchema,
  testBodySchema,
  testedSchema,
  upstreamListSchema,
  vendorListSchema,
} from "./upstream-admin-schema.ts";
import { listUpstreamEvents } from "./upstream-event-store.ts";

const trafficMs = 60 * 60 * 1000;
const limitMs = 24 * 60 * 60 * 1000;
const eventsUsual = 50;

export function addUpstreamAdminRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  addReading(http, dependencies);
  const { database } = dependencies;
  const change = describeAdminEndpoint("switchUpstream");
  http.post(
    "/upstreams/switches",
    {
      config: change.config,
      schema: {
        ...change.schema,
        summary: "Disable, drain or enable an upstream",
        description: "A provider, a route or a key. Every node follows within a second.",
        body: switchBodySchema,
        response: { 200: switchedSchema, ...change.errors },
      },
    },
    async (request) => {
      const { subject, mode, ends_at: endsAt, reason } = request.body;
      const acting = getActing(request);
      const asked = { subject, mode, endsAt: parseMoment(endsAt, "ends_at"), reason, acting };
      const stranded = await switchUpstreamAsOperator(dependencies, asked);
      return { object: "upstream_switch" as const, subject, mode, models_without_route: stranded };
    },
  );
  const test = describeAdminEndpoint("testUpstream");
  http.post(
    "/upstreams/tests",
    {
      config: test.config,
      schema: {
        ...test.schema,
        summary: "Test a provider",
        description:
          "Calls it with each of its keys: DNS, TLS, key and, if you name one, a model. Charges no account; may cost a fraction of a cent at the vendor.",
        body: testBodySchema,
        response: { 200: testedSchema, ...test.errors },
      },
    },
    async (request) => {
      const { provider: id, model = null } = request.body;
      const catalog = await findCatalog(database);
      const providers = catalog?.providers ?? [];
      const provider = providers.find((one) => one.id === id);
      if (provider === undefined)
        throw createUnknownProvider(
          id,
          providers.map((one) => one.id),
        );
      const secrets = await loadUpstreamSecrets(dependencies);
      const examined = { provider, models: catalog?.models ?? [], asked: model, secrets };
      const findings = await examineProvider(dependencies, examined);
      const actor = nameActor(getActing(request).actor);
      await recordUpstreamTest(database, { providerId: id, findings, actor, at: dependencies.clock.now() });
      const checks = presentFindings(findings);
      return { object: "upstream_test" as const, provider: id, ok: checks.every(({ ok }) => ok), checks };
    },
  );
}

function createUnknownProvider(id: string, known: readonly string[]): AppError {
  const nearest = findNearest(id, known);
  const hint = nearest === null ? "" : ` Did you mean ${nearest}?`;
  return new AppError("invalid_parameter", `The catalog has no provider ${id}.${hint}`, { param: "provider" });
}

function addReading(http: HttpServer, { database, clock }: AdminDependencies): void {
  const list = describeAdminEndpoint("listUpstreams");
  http.get(
    "/upstreams",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List upstreams",
        description:
          "Every upstream model with each key: circuits in all processes, switches, and the last hour's calls.",
        response: { 200: upstreamListSchema, ...list.errors },
      },
    },
    async () => {
      const since = new Date(clock.now().getTime() - trafficMs);
      const [catalog, upstreams, limits, balances, traffic] = await Promise.all([
        findCatalog(database),
        listUpstreams({ database, clock }),
        listVendorLimits(database, new Date(clock.now().getTime() - limitMs)),
        listVendorBalances(database),
        summarizeUpstreams(database, since),
      ]);
      return {
        object: "list" as const,
        data: upstreams.map((upstream) => presentUpstream(upstream, { catalog, traffic, limits })),
        balances: balances.map((balance) => presentBalance(balance, catalog)),
        traffic: presentTraffic(traffic),
        traffic_since: traffic.from.toISOString(),
      };
    },
  );
  const events = describeAdminEndpoint("listUpstreamEvents");
  http.get(
    "/upstreams/events",
    {
      config: events.config,
      schema: {
        ...events.schema,
        summary: "List what happened to upstreams",
        description: `Newest first: switches, keys, versions of the catalog, and of the last 90 days tests and circuits. A circuit opens when
the first process stops calling the upstream, and closes when the last one calls it again.`,
        querystring: Type.Object(listFields(eventIdPattern), { additionalProperties: false }),
        response: { 200: eventListSchema, ...events.errors },
      },
    },
    async ({ query: { limit = eventsUsual, after } }) => {
      const place = after === undefined ? null : parseEventPlace(after);
      const found = await listUpstreamEvents(database, { now: clock.now(), after: place, limit: limit + 1 });
      return presentPage(found, limit, presentEvent);
    },
  );
  const vendors = describeAdminEndpoint("listVendors");
  http.get(
    "/vendors",
    {
      config: vendors.config,
      schema: {
        ...vendors.schema,
        summary: "List the ready catalogs of vendors",
        response: { 200: vendorListSchema, ...vendors.errors },
      },
    },
    async () => ({
      object: "list" as const,
      data: (await listReadyCatalogs()).map(({ id, file }) => presentVendor(id, file)),
    }),
  );
}
