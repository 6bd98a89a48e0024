import {
  cancelTask,
  getTask,
  listTasks,
  retryTask,
  type Task,
  taskStates,
  taskTypes,
} from "../features/tasks/index.ts";
import type { AccountId } from "../lib/ids.ts";
import { presentMoney } from "../lib/money.ts";
import { createLogger } from "../platform/observability/logger.ts";
import { createMetrics } from "../platform/observability/metrics.ts";
import type { Command, Terminal } from "./command.ts";
import { createWrongValue, readNumber } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const tasksMax = 1000;
const defaultLimit = "50";

const listCommand: Command = {
  name: "task list",
  summary: "List tasks, newest first.",
  options: {
    account: { placeholder: "account id", description: "Only tasks of this account." },
    status: { placeholder: "word", description: `Only tasks with this status: ${taskStates.join(", ")}.` },
    type: { placeholder: "word", description: `Only tasks of this type: ${taskTypes.join(", ")}.` },
    model: { placeholder: "model id", description: "Only tasks of this model." },
    parent: { placeholder: "task id", description: "Only child tasks of this drama." },
    limit: { placeholder: "number", description: `The maximum number. Default: ${defaultLimit}.` },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, { currency }) => {
      const limit = readNumber("limit", options.limit ?? defaultLimit);
      if (limit < 1 || limit > tasksMax) throw createWrongValue("limit", `a number from 1 to ${tasksMax}`);
      const state = readWord("status", options.status, taskStates);
      const type = readWord("type", options.type, taskTypes);
      const filter = {
        parentId: options.parent ?? null,
        ...(options.account === undefined ? {} : { accountId: options.account as AccountId }),
        ...(options.model === undefined ? {} : { model: options.model }),
        ...(state === undefined ? {} : { state }),
        ...(type === undefined ? {} : { type }),
      };
      const tasks = await listTasks(database, filter, { after: null, limit });
      const heading = ["ID", "ACCOUNT", "TYPE", "MODEL", "STATUS", "PROGRESS", "CHARGE", "CREATED"];
      return {
        json: tasks.map(presentTaskJson),
        text:
          tasks.length === 0
            ? "No tasks."
            : presentRows(
                heading,
                tasks.map((task) => toRow(task, currency)),
              ),
      };
    }),
};

const showCommand: Command = {
  name: "task show",
  summary: "Show a task, including operator-only data: its phase, upstream and failures.",
  positionals: ["task id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database, { currency }) => {
      const task = presentTaskJson(await getTask(database, { id }));
      const shown = { ...task, charge: `${task.charge} ${currency}` };
      const lines = Object.entries(shown).map(([name, value]) => [
        name,
        typeof value === "string" ? value : JSON.stringify(value),
      ]);
      return { json: task, text: presentRows(["FIELD", "VALUE"], lines) };
    }),
};

const cancelCommand: Command = {
  name: "task cancel",
  summary: "Cancel a task: at once if it has not started, else when its upstream has stopped.",
  positionals: ["task id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const task = await cancelTask(
        {
          ...systemDependencies,
          database,
          logger: createCommandLogger(terminal),
          failpoint: () => {},
          // Waiting requests poll.
          watch: { announce: () => {} },
          endings: { run: (work) => work() },
          metrics: createMetrics(),
          // The worker finds out whether the upstream can cancel.
          isCancelable: () => true,
          // Workers poll for due tasks.
          wakeWorkers: () => {},
        },
        { id },
      );
      const isAsked = task.cancelRequestedAt !== null && task.finishedAt === null;
      const text = isAsked ? `${id} is ${task.state}; the upstream was asked to stop.` : `${id} is ${task.state}.`;
      return { json: presentTaskJson(task), text };
    }),
};

const retryCommand: Command = {
  name: "task retry",
  summary: "Schedule an open task now, or create a new task from an ended one.",
  positionals: ["task id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database, { currency }) => {
      const { kind, task } = await retryTask({ ...systemDependencies, database, currency }, id);
      const text =
        kind === "woken" ? `${id} is ${task.state} and due now.` : `${id} has ended; created ${task.id} from it.`;
      return { json: { outcome: kind, ...presentTaskJson(task) }, text };
    }),
};

export const taskCommands: readonly Command[] = [listCommand, showCommand, cancelCommand, retryCommand];

function createCommandLogger({ printNote }: Terminal) {
  return createLogger({ level: "warn", format: "json", write: (line) => printNote(line.trimEnd()) });
}

function readWord<T extends string>(name: string, word: string | undefined, words: readonly T[]): T | undefined {
  const known = words.find((one) => one === word);
  if (word === undefined || known !== undefined) return known;
  throw createWrongValue(name, `one of: ${words.join(", ")}`);
}

function toRow(task: Task, currency: string): string[] {
  return [
    task.id,
    task.accountId,
    task.type,
    task.model,
    task.state,
    `${task.progress} %`,
    `${presentMoney(task.charge)} ${currency}`,
    task.createdAt.toISOString(),
  ];
}

function presentTaskJson(task: Task) {
  return {
    id: task.id,
    account: task.accountId,
    key: task.keyId,
    type: task.type,
    model: task.model,
    status: task.state,
    phase: task.phase,
    progress: task.progress,
    charge: presentMoney(task.charge),
    hold: task.holdId,
    parent: task.parentId,
    steps: task.steps.map(({ name, state, progress, taskIds }) => ({ name, state, progress, tasks: taskIds })),
    upstream: task.target,
    handle: task.handle,
    tried: task.tried,
    error: task.error,
    files: task.output.map(({ fileId }) => fileId),
    request_id: task.requestId,
    created_at: task.createdAt.toISOString(),
    submitted_at: task.submittedAt?.toISOString() ?? null,
    finished_at: task.finishedAt?.toISOString() ?? null,
    deadline_at: task.deadlineAt.toISOString(),
    cancel_requested_at: task.cancelRequestedAt?.toISOString() ?? null,
  };
}
