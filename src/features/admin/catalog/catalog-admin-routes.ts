import { type Static, Type } from "typebox";
import { nano } from "../../../lib/money.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../../platform/errors/error-table.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import {
  type Catalog,
  type CatalogEdit,
  type Decimal,
  draftCatalog,
  editCatalog,
  findCatalog,
  findCatalogSource,
  importModels,
  mergeCatalogs,
  parseDecimal,
  presentForEditing,
  previewCatalog,
} from "../../catalog/index.ts";
import { simulateCatalog } from "../../simulation/index.ts";
import { listFields, presentPage } from "../../usage/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { findReadyCatalog } from "../upstreams/ready-catalogs.ts";
import { applyAsOperator } from "./apply-as-operator.ts";
import {
  applySchema,
  catalogBytesMax,
  catalogSchema,
  editedSchema,
  editSchema,
  importBodySchema,
  outcomeSchema,
  presentEdited,
  presentOutcome,
  presentSimulation,
  presentVersion,
  simulationBodySchema,
  simulationSchema,
  sourceSchema,
  vendorBodySchema,
  versionListSchema,
} from "./catalog-admin-schema.ts";
import { type CatalogVersion, listAccountPlans, listCatalogVersions } from "./catalog-admin-store.ts";
import { gatherSurroundings } from "./gather-surroundings.ts";

const bodyErrors = ["invalid_json", "payload_too_large", "unsupported_media_type"] as const satisfies ErrorCode[];
/** JSON escapes make a file longer. */
const bodyLimit = 2 * catalogBytesMax;
const importLimit = 32 * 1024 * 1024;
const dayMs = 24 * 60 * 60 * 1000;
const usualDays = 30;

export function addCatalogAdminRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  addVersions(http, dependencies);
  addChecks(http, dependencies);
  addEdits(http, dependencies);
  const apply = describeAdminEndpoint("applyCatalog", ["catalog_changed"]);
  http.post(
    "/catalog",
    {
      bodyLimit,
      config: apply.config,
      schema: {
        ...apply.schema,
        summary: "Apply a catalog file",
        description: "All or nothing. Every node serves it within a second. `ok` is false if a check failed.",
        body: applySchema,
        response: { 200: outcomeSchema, ...apply.errors },
      },
    },
    async (request) => {
      const { catalog: source, base_version: baseVersion, reason } = request.body;
      const asked = { source, baseVersion, reason, acting: getActing(request) };
      return presentOutcome(await applyAsOperator(dependencies, asked));
    },
  );
}

function addVersions(http: HttpServer, { database, clock, currency }: AdminDependencies): void {
  const present = async (catalog: Catalog | null, version: CatalogVersion | undefined) => ({
    object: "catalog" as const,
    ...{ version: catalog?.version ?? 0, applied_at: catalog?.appliedAt.toISOString() ?? null },
    ...{ by: version?.by ?? null, reason: version?.reason ?? null },
    catalog:
      catalog === null
        ? `currency: ${currency}\n\nproviders: []\n\nmodels: []\n\nprices: []\n`
        : presentForEditing(catalog, await findCatalogSource(database, catalog.version), clock.now()),
  });
  const get = describeAdminEndpoint("getCatalog");
  http.get(
    "/catalog",
    {
      config: get.config,
      schema: { ...get.schema, summary: "Get the active catalog", response: { 200: catalogSchema, ...get.errors } },
    },
    async () => {
      const [catalog, [version]] = await Promise.all([
        findCatalog(database),
        listCatalogVersions(database, { before: null, limit: 1 }),
      ]);
      return await present(catalog, version);
    },
  );
  const list = describeAdminEndpoint("listCatalogVersions");
  http.get(
    "/catalog/versions",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List the catalog's versions",
        querystring: Type.Object({ ...listFields("^[1-9][0-9]{0,8}$") }, { additionalProperties: false }),
        response: { 200: versionListSchema, ...list.errors },
      },
    },
    async ({ query: { limit = 20, after } }) => {
      const before = after === undefined ? null : Number(after);
      return presentPage(await listCatalogVersions(database, { before, limit: limit + 1 }), limit, presentVersion);
    },
  );
  const one = describeAdminEndpoint("getCatalogVersion");
  http.get(
    "/catalog/versions/:version",
    {
      config: one.config,
      schema: {
        ...one.schema,
        summary: "Get a version of the catalog",
        description: "To compare it, or to go back: apply its file.",
        params: pathParams({ version: "catalogVersion" }),
        response: { 200: catalogSchema, ...one.errors },
      },
    },
    async ({ params }) => {
      const number = Number(params.version);
      const catalog = await findCatalog(database, number);
      if (catalog === null) {
        throw new AppError("not_found", "There is no such version of the catalog.", { param: "version" });
      }
      const [version] = await listCatalogVersions(database, { before: number + 1, limit: 1 });
      return await present(catalog, version);
    },
  );
}

function addChecks(http: HttpServer, dependencies: AdminDependencies): void {
  const { database, clock, ids } = dependencies;
  const check = describeAdminEndpoint("checkCatalog", bodyErrors);
  http.post(
    "/catalog/checks",
    {
      bodyLimit,
      config: check.config,
      schema: {
        ...check.schema,
        summary: "Check a catalog file",
        description: "Every problem with its line and column, and what applying it would change. Changes nothing.",
        body: sourceSchema,
        response: { 200: outcomeSchema, ...check.errors },
      },
    },
    async ({ body: { catalog } }) => {
      const surroundings = await gatherSurroundings(dependencies, catalog);
      return presentOutcome(await previewCatalog({ database, clock, ids, surroundings }, catalog));
    },
  );
  const simulate = describeAdminEndpoint("simulateCatalog", bodyErrors);
  http.post(
    "/catalog/simulations",
    {
      bodyLimit,
      config: simulate.config,
      schema: {
        ...simulate.schema,
        summary: "Simulate a catalog file on past charges",
        description: "What the charges of the last days would have been. Changes nothing.",
        body: simulationBodySchema,
        response: { 200: simulationSchema, ...simulate.errors },
      },
    },
    async ({ body: { catalog, days = usualDays } }) => {
      const surroundings = await gatherSurroundings(dependencies, catalog);
      const { outcome, draft } = await draftCatalog({ database, clock, ids, surroundings }, catalog);
      const now = clock.now();
      const since = new Date(now.getTime() - days * dayMs);
      if (outcome.kind === "refused" || draft === null) {
        const problems = outcome.kind === "refused" ? outcome.problems : [];
        return { ...presentSimulation(nothing, since), ok: false, problems };
      }
      const planIds = await listAccountPlans(database);
      return presentSimulation(await simulateCatalog(database, draft, { since, now, planIds }), since);
    },
  );
}

const nothing = {
  ...{ calls: 0, billed: nano(0n), simulated: nano(0n), cost: nano(0n), kept: 0 },
  ...{ models: new Map(), accounts: new Map() },
};

function addEdits(http: HttpServer, dependencies: Pick<AdminDependencies, "clock">): void {
  const edit = describeAdminEndpoint("editCatalog", bodyErrors);
  http.post(
    "/catalog/edits",
    {
      bodyLimit,
      config: edit.config,
      schema: {
        ...edit.schema,
        summary: "Change a catalog file by a form",
        description: "Returns the changed file. Nothing is applied.",
        body: editSchema,
        response: { 200: editedSchema, ...edit.errors },
      },
    },
    async ({ body: { catalog, edit: asked } }) => {
      const outcome = editCatalog(catalog, readEdit(asked));
      if (outcome.kind === "refused") {
        throw new AppError("invalid_parameter", outcome.message, { param: `edit.${outcome.param}` });
      }
      return presentEdited(catalog, outcome);
    },
  );
  const vendor = describeAdminEndpoint("addVendorToCatalog", bodyErrors);
  http.post(
    "/catalog/vendors",
    {
      bodyLimit,
      config: vendor.config,
      schema: {
        ...vendor.schema,
        summary: "Add a vendor to a catalog file",
        description:
          "From a ready catalog, with its suggested prices times `markup`. Returns the file; nothing is applied.",
        body: vendorBodySchema,
        response: { 200: editedSchema, ...vendor.errors },
      },
    },
    async ({ body: { catalog, vendor: id, models, markup = "1", base_url: baseUrl = null } }) => {
      const ready = await findReadyCatalog(id);
      if (ready === null) {
        throw new AppError("invalid_parameter", `There is no ready catalog ${id}.`, { param: "vendor" });
      }
      const order = { catalog, vendor: ready.file, models: new Set(models), markup: readFactor(markup), baseUrl };
      const outcome = mergeCatalogs(order);
      if (outcome.kind === "refused") {
        throw new AppError("invalid_parameter", outcome.message, { param: outcome.param });
      }
      return presentEdited(catalog, outcome);
    },
  );
  addImport(http, dependencies);
}

function readEdit(asked: Static<typeof editSchema>["edit"]): CatalogEdit {
  if (asked.kind === "add_model") {
    return {
      ...{ kind: asked.kind, provider: asked.provider, upstreamModel: asked.upstream_model, id: asked.id },
      ...{ name: asked.name, maxOutputTokens: asked.max_output_tokens },
      ...{ inputPrice: asked.input_price, outputPrice: asked.output_price },
    };
  }
  if (asked.kind !== "set_route") return asked;
  const { upstream_model: upstreamModel, ...rest } = asked;
  return { ...rest, upstreamModel };
}

function addImport(http: HttpServer, { clock }: Pick<AdminDependencies, "clock">): void {
  const imported = describeAdminEndpoint("importModels", bodyErrors);
  http.post(
    "/catalog/imports",
    {
      bodyLimit: importLimit,
      config: imported.config,
      schema: {
        ...imported.schema,
        summary: "Import a vendor's list of models into a catalog file",
        description: "Your prices are the list's times `markup`. Returns the file; nothing is applied.",
        body: importBodySchema,
        response: { 200: editedSchema, ...imported.errors },
      },
    },
    async ({ body }) => {
      const { catalog, source, list, provider, vendor = provider, markup = "1", models, type, price } = body;
      const outcome = importModels({
        ...{ source, list, catalog, provider, markup: readFactor(markup) },
        models: models === undefined ? null : new Set(models),
        options: {
          ...{ vendor, now: clock.now() },
          ...(type === undefined ? {} : { type }),
          ...(price === undefined ? {} : { price: readFactor(price) }),
        },
      });
      if (outcome.kind === "refused") {
        throw new AppError("invalid_parameter", `${outcome.message} ${outcome.remedy}`, { param: "list" });
      }
      if (outcome.kind === "malformed") return presentEdited(catalog, outcome);
      const notes = [
        ...outcome.added.map((line) => `Added ${line}`),
        ...outcome.changed.map((line) => `Changed ${line}`),
        ...outcome.gone.map((id) => `${id} is not in the list.`),
        ...outcome.leftOut.map(({ id, reason }) => `Left out ${id}: ${reason}`),
      ];
      return presentEdited(catalog, { kind: "edited", catalog: outcome.catalog }, notes);
    },
  );
}

/** The schema's pattern accepts decimals only. */
function readFactor(text: string): Decimal {
  return parseDecimal(text) ?? { digits: 1n, places: 0 };
}
