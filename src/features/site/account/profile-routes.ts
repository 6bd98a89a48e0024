import { type Static, Type } from "typebox";
import type { SiteSession } from "../../../lib/console-session.ts";
import { invariant } from "../../../lib/invariant.ts";
import { standardLimits } from "../../../lib/limit-set.ts";
import { planPeriods } from "../../../lib/plan-terms.ts";
import { inTransaction } from "../../../platform/database/database.ts";
import { consoleErrors, getSession } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { type Account, findAccount, getPlan, type Plan, requireName, updateAccount } from "../../accounts/index.ts";
import { readSessionView } from "../sign-in/session/read-session-view.ts";
import { getSessionUser } from "../sign-in/session/sessions.ts";
import { sessionSchema } from "../sign-in/sign-in-schema.ts";
import type { User } from "../sign-in/user/user.ts";
import { updateUserName } from "../sign-in/user/user-store.ts";
import type { SiteDependencies } from "../site-dependencies.ts";

const tags = ["Account"];

const accountSchema = Type.Object({
  object: Type.Literal("account"),
  id: Type.String(),
  email: Type.String(),
  name: Type.Union([Type.String(), Type.Null()]),
  time_zone: Type.String({ description: "Days begin and end in this time zone.", examples: ["Europe/Berlin"] }),
  plan: Type.Union([
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      period: Type.Enum([...planPeriods]),
      quotas: Type.Object(
        { text: Type.Integer(), image: Type.Integer(), video: Type.Integer() },
        { description: "Quota per period: tokens, images, seconds." },
      ),
    }),
    Type.Null(),
  ]),
  limits: Type.Object(
    {
      requests_per_minute: Type.Integer(),
      tokens_per_minute: Type.Integer(),
      concurrent_requests: Type.Integer(),
      tasks_in_flight: Type.Integer(),
    },
    { description: "Limits shared by all keys." },
  ),
  created: Type.Integer({ description: "Unix time in seconds." }),
});

const profileChangeSchema = Type.Object(
  {
    name: Type.Optional(Type.String({ maxLength: 400, description: "1 to 100 characters." })),
    time_zone: Type.Optional(Type.String({ maxLength: 64, examples: ["Europe/Berlin"] })),
  },
  { additionalProperties: false, minProperties: 1 },
);

export function addProfileRoutes(http: HttpServer, dependencies: SiteDependencies): void {
  const { database } = dependencies;
  http.get(
    "/account",
    {
      schema: {
        operationId: "getAccount",
        summary: "Get the account",
        tags,
        response: { 200: accountSchema, ...consoleErrors("GET") },
      },
    },
    async (request) => {
      const session = getSession(request);
      const [user, account] = await Promise.all([
        getSessionUser(database, session),
        findAccount(database, session.accountId),
      ]);
      invariant(account !== null, `the user ${user.id} has no account`);
      const plan = account.planId === null ? null : await getPlan(database, account.planId);
      return presentAccount(account, { user, plan });
    },
  );
  http.patch(
    "/account",
    {
      schema: {
        operationId: "updateAccount",
        summary: "Update the account",
        description: "Absent fields keep their value. Returns the same as `GET /session`.",
        tags,
        body: profileChangeSchema,
        response: { 200: sessionSchema, ...consoleErrors("PATCH") },
      },
    },
    async (request) => {
      const session = getSession(request);
      const { name, time_zone: timeZone } = request.body;
      await changeProfile(dependencies, session, {
        ...(name === undefined ? {} : { name }),
        ...(timeZone === undefined ? {} : { timeZone }),
      });
      return await readSessionView(dependencies, session);
    },
  );
}

function presentAccount(
  account: Account,
  { user, plan }: { user: User; plan: Plan | null },
): Static<typeof accountSchema> {
  const limits = { ...standardLimits, ...plan?.limits, ...account.limits };
  return {
    object: "account",
    id: account.id,
    email: account.email,
    name: user.name,
    time_zone: account.timeZone,
    plan: plan === null ? null : presentPlan(plan),
    limits: {
      requests_per_minute: limits.requestsPerMinute,
      tokens_per_minute: limits.tokensPerMinute,
      concurrent_requests: limits.concurrentRequests,
      tasks_in_flight: limits.tasksInFlight,
    },
    created: Math.floor(account.createdAt.getTime() / 1000),
  };
}

function presentPlan({ id, name, period, quotas }: Plan) {
  const { text, image, video } = quotas;
  return { id, name, period, quotas: { text: Number(text), image: Number(image), video: Number(video) } };
}

/** In one transaction. */
async function changeProfile(
  { database, clock }: SiteDependencies,
  { accountId, userId }: SiteSession,
  { name, timeZone }: { name?: string; timeZone?: string },
): Promise<void> {
  await inTransaction(database, async (tx) => {
    if (name !== undefined) await updateUserName(tx, userId, requireName(name));
    if (timeZone !== undefined) await updateAccount({ database: tx, clock }, accountId, { timeZone });
  });
}
