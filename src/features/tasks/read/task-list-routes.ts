import type { Static } from "typebox";
import type { Clock } from "../../../lib/clock.ts";
import type { AccountId } from "../../../lib/ids.ts";
import { parseTimestamp } from "../../../lib/timestamp.ts";
import type { Database } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../../platform/http/endpoint-table.ts";
import { getCaller } from "../../../platform/http/request-context.ts";
import type { Files } from "../../files/index.ts";
import { presentTask } from "../present-task.ts";
import { countTasks, findScanEnd, listTasks, scannedTasksMax, type TaskFilter } from "../task-store.ts";
import { hasSucceeded } from "./read-task.ts";
import { taskCountFilterSchema, taskCountsSchema, taskFilterSchema, taskListSchema } from "./task-schema.ts";

type TaskListDependencies = { database: Database; clock: Clock; files: Pick<Files, "signLink"> };

const tags = ["Tasks"];
const wordsMax = 8;

export function addTaskListRoutes(http: HttpServer, dependencies: TaskListDependencies): void {
  addListTasks(http, dependencies);
  addCountTasks(http, dependencies);
}

function addListTasks(http: HttpServer, { database, clock, files }: TaskListDependencies): void {
  const { config, schema, errors } = describeEndpoint("listTasks", ["invalid_parameter", "unknown_parameter"]);
  const description = `The account's tasks, newest first. Filters combine. A search (\`q\`) reads ${scannedTasksMax} tasks at a time, so
a page may be short or empty while \`next_cursor\` still leads to the next one.`;
  http.get(
    "/tasks",
    {
      config,
      schema: {
        ...schema,
        summary: "List tasks",
        description,
        tags,
        querystring: taskFilterSchema,
        response: { 200: taskListSchema, ...errors },
      },
    },
    async (request) => {
      const { parent_id: parentId = null, limit = 20, after = null } = request.query;
      const filter = { ...readFilter(request.query, getCaller(request)), parentId };
      const tasks = await listTasks(database, filter, { after, limit: limit + 1 });
      const page = tasks.slice(0, limit);
      const nextCursor =
        tasks.length > limit
          ? (page.at(-1)?.id ?? null)
          : filter.words === undefined
            ? null
            : await findScanEnd(database, filter, after);
      const isParentPaid = await hasSucceeded(database, parentId);
      const view = { signLink: files.signLink, now: clock.now(), queuePosition: null, isParentPaid };
      return {
        object: "list" as const,
        data: page.map((task) => presentTask(task, view)),
        has_more: nextCursor !== null,
        next_cursor: nextCursor,
      };
    },
  );
}

function addCountTasks(http: HttpServer, { database }: TaskListDependencies): void {
  const { config, schema, errors } = describeEndpoint("countTasks", ["invalid_parameter", "unknown_parameter"]);
  http.get(
    "/tasks/counts",
    {
      config,
      schema: {
        ...schema,
        summary: "Count tasks",
        description: `Counts the newest ${scannedTasksMax} matching tasks by status and type.`,
        tags,
        querystring: taskCountFilterSchema,
        response: { 200: taskCountsSchema, ...errors },
      },
    },
    async (request) => {
      const { counts, isComplete } = await countTasks(database, readFilter(request.query, getCaller(request)));
      return {
        object: "list" as const,
        data: counts.map(({ state, type, count }) => ({ status: state, type, count })),
        has_more: !isComplete,
      };
    },
  );
}

function readFilter(
  { status, type, model, q = "", from, to }: Static<typeof taskCountFilterSchema>,
  { accountId }: { accountId: AccountId },
): TaskFilter {
  const words = q
    .split(/\s+/)
    .filter((word) => word !== "")
    .slice(0, wordsMax);
  return {
    accountId,
    parentId: null,
    ...(status === undefined ? {} : { state: status }),
    ...(type === undefined ? {} : { type }),
    ...(model === undefined ? {} : { model }),
    ...(words.length === 0 ? {} : { words }),
    ...(from === undefined ? {} : { from: parseMoment(from, "from") }),
    ...(to === undefined ? {} : { to: parseMoment(to, "to") }),
  };
}

function parseMoment(text: string, param: "from" | "to"): Date {
  const moment = parseTimestamp(text);
  // Task ids start with their timestamp, which cannot encode times before 1970.
  if (moment !== null && moment.getTime() >= 0) return moment;
  const message = `${param} must be a timestamp with an offset, such as 2026-11-01T12:00:00Z.`;
  throw new AppError("invalid_parameter", message, { param });
}
