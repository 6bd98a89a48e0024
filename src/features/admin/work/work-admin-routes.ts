import { Type } from "typebox";
import type { AccountId } from "../../../lib/ids.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { countProviderTasks, getTask, type Task } from "../../tasks/index.ts";
import { createUnknownCursor, presentPage } from "../../usage/index.ts";
import { findAccountEmails } from "../accounts/account-email-store.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { reasonSchema } from "../edge/reason.ts";
import {
  cancelTaskAsOperator,
  purgeAsOperator,
  resendEventAsOperator,
  retryTaskAsOperator,
} from "./change-work-as-operator.ts";
import {
  deliveryListSchema,
  deliveryQuerySchema,
  presentListedTask,
  presentStorage,
  presentWorkDelivery,
  presentWorkTask,
  queueListSchema,
  storageQuerySchema,
  storageSchema,
  taskListSchema,
  taskQuerySchema,
  workTaskSchema,
} from "./work-admin-schema.ts";
import {
  findTaskLease,
  listLongestWaits,
  listStorage,
  listWorkDeliveries,
  listWorkTasks,
  type StoragePlace,
  sumStorage,
} from "./work-admin-store.ts";

const usualLimit = 20;
const taskParams = pathParams({ task_id: "task" });

export function addWorkAdminRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  addTasks(http, dependencies);
  addTaskChanges(http, dependencies);
  addDeliveries(http, dependencies);
  addQueues(http, dependencies);
  addStorage(http, dependencies);
}

function addTasks(http: HttpServer, dependencies: AdminDependencies): void {
  const { database } = dependencies;
  const list = describeAdminEndpoint("listTasks");
  http.get(
    "/tasks",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List tasks of all accounts",
        description:
          "Open tasks begin with the oldest, ended ones with the newest. A page may be short and still have a next one.",
        querystring: taskQuerySchema,
        response: { 200: taskListSchema, ...list.errors },
      },
    },
    async ({ query: { state: group = "open", account_id: accountId, model = null, provider = null, ...page } }) => {
      const filter = { group, accountId: (accountId ?? null) as AccountId | null, model, provider };
      const { limit = usualLimit, after = null } = page;
      const { tasks, next } = await listWorkTasks(database, filter, { after, limit });
      return {
        object: "list" as const,
        data: tasks.map(presentListedTask),
        has_more: next !== null,
        next_cursor: next,
      };
    },
  );
  const get = describeAdminEndpoint("getTask", ["task_not_found"]);
  http.get(
    "/tasks/:task_id",
    {
      config: get.config,
      schema: {
        ...get.schema,
        summary: "Get a task of any account",
        description: "Its course, its upstream, those that refused it, and its error.",
        params: taskParams,
        response: { 200: workTaskSchema, ...get.errors },
      },
    },
    async ({ params }) => await present(dependencies, await getTask(database, { id: params.task_id })),
  );
}

function addTaskChanges(http: HttpServer, dependencies: AdminDependencies): void {
  const cancel = describeAdminEndpoint("cancelTask", ["task_not_found", "task_not_cancelable"]);
  http.post(
    "/tasks/:task_id/cancel",
    {
      config: cancel.config,
      schema: {
        ...cancel.schema,
        summary: "Cancel a task",
        description:
          "By the rules of its owner: at once if no upstream has started it, else when the upstream has stopped.",
        params: taskParams,
        body: reasonSchema,
        response: { 200: workTaskSchema, ...cancel.errors },
      },
    },
    async (request) => {
      const asked = { id: request.params.task_id, acting: getActing(request), reason: request.body.reason };
      return await present(dependencies, await cancelTaskAsOperator(dependencies, asked));
    },
  );
  const retry = describeAdminEndpoint("retryTask", ["task_not_found", "insufficient_balance"]);
  http.post(
    "/tasks/:task_id/retry",
    {
      config: retry.config,
      schema: {
        ...retry.schema,
        summary: "Retry a task",
        description:
          "Makes an open task due at once, or creates a new task from an ended one: the same request, price and key.",
        params: taskParams,
        body: reasonSchema,
        response: {
          200: Type.Object({
            object: Type.Literal("retry"),
            outcome: Type.Enum(["woken", "recreated"]),
            task: workTaskSchema,
          }),
          ...retry.errors,
        },
      },
    },
    async (request) => {
      const asked = { id: request.params.task_id, acting: getActing(request), reason: request.body.reason };
      const { kind, task } = await retryTaskAsOperator(dependencies, asked);
      return { object: "retry" as const, outcome: kind, task: await present(dependencies, task) };
    },
  );
}

function addDeliveries(http: HttpServer, dependencies: AdminDependencies): void {
  const list = describeAdminEndpoint("listDeliveries");
  http.get(
    "/deliveries",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List webhook deliveries of all accounts",
        querystring: deliveryQuerySchema,
        response: { 200: deliveryListSchema, ...list.errors },
      },
    },
    async ({ query: { state: group = "failing", account_id: accountId, event_id: eventId = null, ...page } }) => {
      const filter = { group, accountId: (accountId ?? null) as AccountId | null, eventId };
      const { limit = usualLimit, after = null } = page;
      const found = await listWorkDeliveries(dependencies.database, filter, { after, limit: limit + 1 });
      return presentPage(found, limit, presentWorkDelivery);
    },
  );
  const resend = describeAdminEndpoint("resendEvent");
  http.post(
    "/events/:event_id/resend",
    {
      config: resend.config,
      schema: {
        ...resend.schema,
        summary: "Deliver an event again",
        description: "To all of its receivers that still exist. The id stays the same, so receivers can deduplicate.",
        params: pathParams({ event_id: "webhookEvent" }),
        body: reasonSchema,
        response: { 200: Type.Object({ object: Type.Literal("event"), id: Type.String() }), ...resend.errors },
      },
    },
    async (request) => {
      const asked = { id: request.params.event_id, acting: getActing(request), reason: request.body.reason };
      await resendEventAsOperator(dependencies, asked);
      return { object: "event" as const, id: asked.id };
    },
  );
}

function addQueues(http: HttpServer, { database, listTaskProviders }: AdminDependencies): void {
  const list = describeAdminEndpoint("listQueues");
  http.get(
    "/queues",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List the tasks at and before each upstream",
        response: { 200: queueListSchema, ...list.errors },
      },
    },
    async () => {
      const [counts, waits] = await Promise.all([countProviderTasks(database), listLongestWaits(database)]);
      const providers = new Map(listTaskProviders().map((provider) => [provider.id, provider]));
      const busy = new Map(counts.map((count) => [count.providerId, count]));
      const limited = [...providers.values()].filter(
        ({ tasks_max: most, tasks_per_minute: rate }) => most !== undefined || rate !== undefined,
      );
      const names = [...new Set([...busy.keys(), ...limited.map(({ id }) => id)])].toSorted();
      return {
        object: "list" as const,
        data: names.map((name) => ({
          provider: name,
          at_work: busy.get(name)?.atWork ?? 0,
          waiting: busy.get(name)?.waiting ?? 0,
          waiting_since: waits.get(name)?.toISOString() ?? null,
          tasks_max: providers.get(name)?.tasks_max ?? null,
          tasks_per_minute: providers.get(name)?.tasks_per_minute ?? null,
          limits_per: providers.get(name)?.task_limits_per ?? ("provider" as const),
        })),
      };
    },
  );
}

function addStorage(http: HttpServer, dependencies: AdminDependencies): void {
  const { database, clock, retention } = dependencies;
  const list = describeAdminEndpoint("listStorage");
  http.get(
    "/storage",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List the storage of accounts",
        description: "By the bytes of uploads, the largest first. Outputs of tasks are not limited, but expire too.",
        querystring: storageQuerySchema,
        response: { 200: storageSchema, ...list.errors },
      },
    },
    async ({ query: { limit = usualLimit, after } }) => {
      const place = after === undefined ? null : parsePlace(after);
      const [found, total] = await Promise.all([
        listStorage(database, { after: place, limit: limit + 1 }),
        sumStorage(database, clock.now()),
      ]);
      const shown = found.slice(0, limit);
      const last = found.length > limit ? shown.at(-1) : undefined;
      return {
        object: "list" as const,
        data: shown.map(presentStorage),
        has_more: last !== undefined,
        next_cursor: last === undefined ? null : `${last.uploads.bytes}.${last.accountId}`,
        uploads: { files: Number(total.files), bytes: Number(total.bytes) },
        expired_files: total.expired,
        retention: {
          file_days: retention.fileDays,
          task_days: retention.taskDays,
          request_days: retention.requestDays,
        },
      };
    },
  );
  const purge = describeAdminEndpoint("purgeFiles");
  http.post(
    "/storage/purge",
    {
      config: purge.config,
      schema: {
        ...purge.schema,
        summary: "Delete expired files now",
        description: "A job does so every minute.",
        body: reasonSchema,
        response: {
          200: Type.Object({ object: Type.Literal("purge"), files: Type.Integer(), removed_bytes: Type.Integer() }),
          ...purge.errors,
        },
      },
    },
    async (request) => {
      const asked = { acting: getActing(request), reason: request.body.reason };
      const { files, removedBytes } = await purgeAsOperator(dependencies, asked);
      return { object: "purge" as const, files, removed_bytes: removedBytes };
    },
  );
}

function parsePlace(text: string): StoragePlace {
  const at = text.indexOf(".");
  if (at < 1) throw createUnknownCursor();
  return { bytes: BigInt(text.slice(0, at)), accountId: text.slice(at + 1) };
}

async function present({ database }: Pick<AdminDependencies, "database">, task: Task) {
  const [lease, emails] = await Promise.all([
    findTaskLease(database, task.id),
    findAccountEmails(database, [task.accountId]),
  ]);
  return presentWorkTask(task, { email: emails.get(task.accountId) ?? null, lease });
}
