import { type Static, Type } from "typebox";
import type { AccountId } from "../../lib/ids.ts";
import { parseMoney, presentMoney } from "../../lib/money.ts";
import { planPeriods } from "../../lib/plan-terms.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { consoleErrors, getSession } from "../../platform/http/console-edge.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { listPlans, type Plan } from "../accounts/index.ts";
import { readBalance } from "../ledger/index.ts";
import { buyPlan, cancelPlan, type PlanDependencies } from "./buy-plan.ts";
import { findSubscription } from "./plan-subscription-store.ts";

const tags = ["Payments"];

const soldPlanSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  price: Type.String({ examples: ["20.00"], description: "The price of a period." }),
  period: Type.Enum([...planPeriods]),
  quotas: Type.Object(
    { text: Type.Integer(), image: Type.Integer(), video: Type.Integer() },
    { description: "Quota per period: tokens, images, seconds." },
  ),
});

const planListSchema = Type.Object({
  object: Type.Literal("plans"),
  currency: Type.String(),
  data: Type.Array(soldPlanSchema, { description: "The plans for sale, cheapest first." }),
  own: Type.Union(
    [
      Type.Object({
        id: Type.String(),
        price: Type.String({ description: "The price that you agreed to." }),
        ends_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
          description: "The end of the current period.",
        }),
        renews: Type.Boolean({ description: "Whether it renews then, if the balance covers it." }),
      }),
      Type.Null(),
    ],
    { description: "The plan that you bought." },
  ),
  is_managed: Type.Boolean({ description: "Whether the operator gave you a plan, so that you can't buy another." }),
});

const purchaseSchema = Type.Object(
  {
    plan_id: Type.String({ minLength: 1, maxLength: 64 }),
    price: Type.String({
      maxLength: 32,
      description: "The price as you saw it. If it has changed, nothing is bought.",
    }),
  },
  { additionalProperties: false },
);

export function addPlanRoutes(http: HttpServer, dependencies: PlanDependencies): void {
  http.get(
    "/plans",
    {
      schema: {
        operationId: "listPlans",
        summary: "List the plans for sale",
        tags,
        response: { 200: planListSchema, ...consoleErrors("GET") },
      },
    },
    async (request) => await presentPlans(dependencies, getSession(request).accountId),
  );
  http.post(
    "/plans/own",
    {
      schema: {
        operationId: "buyPlan",
        summary: "Buy a plan",
        description: `Pays the first period from the balance and starts it at once. It renews from the balance until you cancel it.
Another plan replaces the one you have, without a refund. For a plan that you canceled, it only undoes that.`,
        tags,
        body: purchaseSchema,
        response: {
          200: planListSchema,
          ...consoleErrors("POST", ["not_found", "insufficient_balance", "account_suspended", "overloaded"]),
        },
      },
    },
    async (request) => {
      const { accountId } = getSession(request);
      const { plan_id: planId, price: text } = request.body;
      const price = parseMoney(text);
      if (price === null) {
        throw new AppError("invalid_parameter", "`price` must be a number, such as 20.00.", { param: "price" });
      }
      await buyPlan(dependencies, { accountId, planId, price });
      return await presentPlans(dependencies, accountId);
    },
  );
  http.delete(
    "/plans/own",
    {
      schema: {
        operationId: "cancelPlan",
        summary: "Cancel the plan",
        description: "The plan ends with its period and is not renewed.",
        tags,
        response: { 200: planListSchema, ...consoleErrors("DELETE", ["not_found"]) },
      },
    },
    async (request) => {
      const { accountId } = getSession(request);
      await cancelPlan(dependencies, accountId);
      return await presentPlans(dependencies, accountId);
    },
  );
}

async function presentPlans(
  { database, clock, currency }: PlanDependencies,
  accountId: AccountId,
): Promise<Static<typeof planListSchema>> {
  const [plans, own, { period }] = await Promise.all([
    listPlans(database),
    findSubscription(database, accountId),
    readBalance(database, accountId, clock.now()),
  ]);
  const data = plans
    .filter(({ isForSale }) => isForSale)
    .toSorted((one, other) => ((one.price ?? 0n) < (other.price ?? 0n) ? -1 : 1))
    .flatMap(presentPlan);
  const isOwn = own !== null && period?.planId === own.planId;
  return {
    object: "plans",
    ...{ currency, data },
    own:
      own === null
        ? null
        : {
            id: own.planId,
            price: presentMoney(own.price),
            ends_at: isOwn ? period.endsAt.toISOString() : null,
            renews: own.canceledAt === null,
          },
    is_managed: own === null && period !== null,
  };
}

function presentPlan({
  id,
  name,
  price,
  period,
  quotas: { text, image, video },
}: Plan): Static<typeof soldPlanSchema>[] {
  if (price === null) return [];
  const quotas = { text: Number(text), image: Number(image), video: Number(video) };
  return [{ id, name, price: presentMoney(price), period, quotas }];
}
