import type { ApiClient } from "./api-client.ts";
import { ApiError } from "./api-error.ts";
import { type ExitCode, exitCodes } from "./cli-error.ts";
import type { CommandInput } from "./command-definition.ts";
import { followTask } from "./follow-task.ts";
import { cleanText } from "./paint.ts";
import { presentMoney } from "./present-money.ts";
import { type Destination, saveOutputs } from "./save-outputs.ts";
import { createProgress } from "./show-progress.ts";
import { isFinal, type TaskAnswer } from "./task-answer.ts";

type TaskContext = Pick<CommandInput, "terminal" | "interruption"> & { api: ApiClient };

/** The ended task, or `null` on Ctrl-C. */
export async function waitForTask(
  id: string,
  { api, terminal, interruption }: TaskContext,
): Promise<TaskAnswer | null> {
  const { signal } = interruption;
  const progress = createProgress(terminal);
  try {
    return await followTask(id, { api, onChange: progress.show, signal });
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  } finally {
    progress.end();
  }
}

/** Downloads the outputs and reports the final status. */
export async function concludeTask(
  task: TaskAnswer,
  { destination, doesForce }: { destination: Destination; doesForce: boolean },
  { api, terminal, interruption }: TaskContext,
): Promise<ExitCode> {
  // A canceled task keeps the outputs that were finished, and charges for them.
  const files = await saveOutputs(task, destination, { terminal, doesForce, signal: interruption.signal });
  if (terminal.isJson && destination.kind !== "stdout") terminal.printJson({ ...task, files });
  else if (!terminal.isJson) {
    for (const path of files) terminal.print(path);
    await tellEnd(task, { api, terminal });
  }
  return task.status === "succeeded" ? exitCodes.done : exitCodes.taskFailed;
}

async function tellEnd(task: TaskAnswer, { api, terminal }: Omit<TaskContext, "interruption">): Promise<void> {
  const { paintError } = terminal;
  for (const { message } of task.warnings ?? []) terminal.tell(paintError.yellow(cleanText(message)));
  const { charge } = task.usage;
  const cost = `It cost ${charge === undefined ? "nothing yet" : await presentMoney(charge, api)}.`;
  if (task.status === "succeeded") {
    terminal.tell(`${paintError.green("✓")} ${task.id} succeeded. ${cost}`);
    return;
  }
  const reason = task.error === undefined ? "" : ` ${cleanText(task.error.message)}`;
  terminal.tell(`${paintError.red("✗")} ${task.id} ${endings[task.status] ?? task.status}.${reason} ${cost}`);
  if (task.error?.retryable === true) terminal.tell("  This error may be temporary. Try again.");
}

const endings: Partial<Record<TaskAnswer["status"], string>> = {
  failed: "failed",
  canceled: "was canceled",
  expired: "expired before it finished",
};

/** On Ctrl-C, cancels the task and prints its cost so far. */
export async function cancelInterrupted(id: string, { api, terminal, interruption }: TaskContext): Promise<ExitCode> {
  terminal.tell(`Canceling ${id} … (press Ctrl-C again to exit without waiting)`);
  // The abort signal has already fired, so handle the next Ctrl-C here.
  const release = interruption.take(() => process.exit(exitCodes.interrupted));
  try {
    const path = `/tasks/${encodeURIComponent(id)}/cancel`;
    const task = await api.ask<TaskAnswer>({ method: "POST", path, isRepeatable: true });
    if (terminal.isJson) terminal.printJson(task);
    else terminal.tell(await describeCancellation(task, api));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "task_not_cancelable") throw error;
    terminal.complain(`${id} cannot be canceled and continues. Later: sluice tasks wait ${id}`);
  } finally {
    release();
  }
  return exitCodes.interrupted;
}

async function describeCancellation(task: TaskAnswer, api: ApiClient): Promise<string> {
  if (!isFinal(task)) return `${task.id} is being canceled. See: sluice tasks show ${task.id}`;
  const cost = await presentMoney(task.usage.charge ?? "0.00", api);
  if (task.status === "succeeded") {
    return `${task.id} had already finished and cost ${cost}. Download it: sluice tasks download ${task.id}`;
  }
  return `${task.id} ${endings[task.status]}. It cost ${cost}.`;
}
