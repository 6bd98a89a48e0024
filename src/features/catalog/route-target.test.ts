import { expect, test } from "vitest";
import { environmentSecrets as secrets } from "../../platform/config/secrets.ts";
import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import type { Model, Route } from "./model.ts";
import { listRouteTargets } from "./route-target.ts";

const main: ProviderDefinition = {
  ...{ id: "main", kind: "openai-compatible", base_url: "https://example.com" },
  api_keys: ["${FIRST_KEY}", "${SECOND_KEY}"],
};
const toy: ProviderDefinition = { id: "toy", kind: "sandbox" };
const providers = new Map([main, toy].map((provider) => [provider.id, provider]));

function createRoute(provider: string, fields: Partial<Route> = {}): Route {
  return { provider, upstream_model: "talk-1", priority: 0, weight: 1, ...fields };
}

function createModel(...routes: Route[]): Model {
  return {
    ...{ id: "talk", name: "Talk", type: "chat", logo: "", description: "", advantages: [], scenarios: [] },
    ...{ capabilities: ["chat"], limits: {}, created_at: "2026-01-01T00:00:00Z", routes },
  };
}

test("a route has one target per key of its provider, in order, or one if there are no keys", () => {
  const routes = [createRoute("toy", { upstream_model: "echo" }), createRoute("main", { priority: 1 })];
  const lastHead = { headers: null, atMs: 0 };
  expect(listRouteTargets(createModel(...routes), providers, secrets)).toEqual([
    {
      ...{
        providerId: "toy",
        upstreamModel: "echo",
        keyNumber: 0,
        apiKeyReference: null,
        placeHash: expect.any(Number),
        lastHead,
      },
      ...{ route: routes[0], provider: toy, secrets },
    },
    ...(main.api_keys?.map((apiKeyReference, keyNumber) => ({
      ...{ providerId: "main", upstreamModel: "talk-1", keyNumber, apiKeyReference, placeHash: expect.any(Number) },
      ...{ lastHead, route: routes[1], provider: main, secrets },
    })) ?? []),
  ]);
});

test("a route to a missing provider has no target, and neither has a model without routes", () => {
  expect(listRouteTargets(createModel(createRoute("gone")), providers, secrets)).toEqual([]);
  expect(listRouteTargets(createModel(), providers, secrets)).toEqual([]);
});
