import type { ApiClient } from "./api-client.ts";
import { CliError, type ExitCode, exitCodes } from "./cli-error.ts";
import type { CommandDefinition, CommandInput } from "./command-definition.ts";
import { concludeTask, waitForTask } from "./conclude-task.ts";
import { outcomeOptions } from "./media-table.ts";
import { openApi } from "./open-api.ts";
import { cleanText } from "./paint.ts";
import { presentMoney } from "./present-money.ts";
import { presentTable } from "./present-table.ts";
import { chooseDestination } from "./save-outputs.ts";
import { isFinal, type TaskAnswer } from "./task-answer.ts";

const taskWord = { shown: "<task>", min: 1, max: 1 };
const { output = { explains: "" }, force = { explains: "" } } = outcomeOptions;

const listCommand: CommandDefinition = {
  name: "tasks",
  summary: "List your tasks, newest first.",
  options: {
    status: {
      placeholder: "status",
      choices: ["queued", "processing", "succeeded", "failed", "canceled", "expired"],
      explains: "Only tasks with this status.",
    },
    type: {
      placeholder: "type",
      choices: ["image", "video", "avatar", "drama", "speech"],
      explains: "Only tasks of this type.",
    },
    model: { placeholder: "id", explains: "Only tasks of this model." },
    limit: { placeholder: "count", explains: "The number of tasks, up to 100. Default: 20." },
    after: { placeholder: "id", explains: "Start after this task (the cursor of the previous page)." },
  },
  examples: [{ line: "sluice tasks --status processing", does: "running tasks" }],
  run: listTasks,
};

export const tasksCommands: readonly CommandDefinition[] = [
  listCommand,
  { ...listCommand, name: "tasks list" },
  {
    name: "tasks show",
    summary: "Show a task's status, cost and outputs.",
    words: taskWord,
    examples: [{ line: "sluice tasks show task_01kh…", does: "one task" }],
    run: showTask,
  },
  {
    name: "tasks wait",
    summary: "Wait for a task and download its outputs.",
    details: "Ctrl-C stops waiting. The task continues.",
    words: taskWord,
    options: { output, force },
    examples: [{ line: "sluice tasks wait task_01kh… -o video.mp4", does: "a task submitted with --no-wait" }],
    run: waitAndSave,
  },
  {
    name: "tasks download",
    summary: "Download a task's outputs.",
    words: taskWord,
    options: { output, force },
    examples: [{ line: "sluice tasks download task_01kh… -o videos/", does: "into a folder" }],
    run: downloadTask,
  },
  {
    name: "tasks cancel",
    summary: "Cancel a task.",
    words: taskWord,
    examples: [{ line: "sluice tasks cancel task_01kh…", does: "cancel one task" }],
    run: cancelTask,
  },
];

async function listTasks(input: CommandInput): Promise<ExitCode> {
  const { options, terminal, interruption } = input;
  const limit = options.integer("limit");
  const query = new URLSearchParams(limit === undefined ? {} : { limit: String(limit) });
  for (const name of ["status", "type", "model", "after"]) {
    const value = options.text(name);
    if (value !== undefined) query.set(name, value);
  }
  const { api } = await openApi(input);
  const list = await api.ask<{ data: TaskAnswer[]; next_cursor: string | null }>({
    method: "GET",
    path: `/tasks?${query}`,
    signal: interruption.signal,
  });
  if (terminal.isJson) terminal.printJson(list);
  else if (list.data.length === 0) terminal.print("No tasks found.");
  else {
    terminal.print(presentTable(["TASK", "TYPE", "STATUS", "DONE", "MODEL"], list.data.map(toRow), terminal.paint));
    if (list.next_cursor !== null) terminal.tell(`More: --after ${list.next_cursor}`);
  }
  return exitCodes.done;
}

function toRow({ id, type, status, progress, model }: TaskAnswer): string[] {
  return [id, type, status, `${progress} %`, model];
}

async function openTask(input: CommandInput) {
  const [id = ""] = input.words;
  const { api } = await openApi(input);
  return { id, path: `/tasks/${encodeURIComponent(id)}`, api, signal: input.interruption.signal };
}

async function showTask(input: CommandInput): Promise<ExitCode> {
  const { terminal } = input;
  const { path, api, signal } = await openTask(input);
  await present(await api.ask<TaskAnswer>({ method: "GET", path, signal }), { terminal, api });
  return exitCodes.done;
}

async function present(
  task: TaskAnswer,
  { terminal, api }: Pick<CommandInput, "terminal"> & { api: ApiClient },
): Promise<void> {
  if (terminal.isJson) {
    terminal.printJson(task);
    return;
  }
  const { charge, estimated_charge: most } = task.usage;
  const cost = charge ?? most;
  const shown = cost === undefined ? "nothing yet" : await presentMoney(cost, api);
  const rows = [
    ["task", task.id],
    ["type", `${task.type}, by ${task.model}`],
    ["status", `${task.status}, ${task.progress} %`],
    ["cost", charge === undefined && most !== undefined ? `at most ${shown}` : shown],
    ...(task.error === undefined ? [] : [["error", `${task.error.message} (${task.error.code})`]]),
    ...(task.steps ?? []).map((step) => [`step ${step.name}`, `${step.status}, ${step.progress} %`]),
    ...task.output.map((output) => [output.type, `${output.content_type}, ${output.bytes} bytes: ${output.url}`]),
  ];
  terminal.print(presentTable(["", ""], rows, terminal.paint).trimStart());
}

async function waitAndSave(input: CommandInput): Promise<ExitCode> {
  const { options, terminal, interruption } = input;
  const doesForce = options.has("force");
  const destination = await chooseDestination(options.text("output"), doesForce);
  const { id, api } = await openTask(input);
  const context = { api, terminal, interruption };
  const task = await waitForTask(id, context);
  if (task !== null) return await concludeTask(task, { destination, doesForce }, context);
  terminal.complain(`${cleanText(id)} continues. Later: sluice tasks wait ${cleanText(id)}`);
  return exitCodes.interrupted;
}

async function downloadTask(input: CommandInput): Promise<ExitCode> {
  const { options, terminal, interruption } = input;
  const doesForce = options.has("force");
  const destination = await chooseDestination(options.text("output"), doesForce);
  const { path, api, signal } = await openTask(input);
  const task = await api.ask<TaskAnswer>({ method: "GET", path, signal });
  if (!isFinal(task)) {
    throw new CliError(`${task.id} has not ended yet: ${task.status}, ${task.progress} %.`, {
      remedy: `Wait for it: sluice tasks wait ${task.id}`,
    });
  }
  return await concludeTask(task, { destination, doesForce }, { api, terminal, interruption });
}

async function cancelTask(input: CommandInput): Promise<ExitCode> {
  const { path, api, signal } = await openTask(input);
  const call = { method: "POST", path: `${path}/cancel`, isRepeatable: true, signal } as const;
  await present(await api.ask<TaskAnswer>(call), { ...input, api });
  return exitCodes.done;
}
