import { randomUUID } from "node:crypto";
import type { ApiClient, Call } from "./api-client.ts";
import { ApiError } from "./api-error.ts";
import { buildRequest, type RequestBody } from "./build-request.ts";
import { chooseModel } from "./choose-model.ts";
import { CliError, createMisuse, type ExitCode, exitCodes } from "./cli-error.ts";
import type { CommandDefinition, CommandInput, OptionDefinition, OptionTable } from "./command-definition.ts";
import { cancelInterrupted, concludeTask, waitForTask } from "./conclude-task.ts";
import { type FieldRule, type MediaDefinition, mediaTable, outcomeOptions } from "./media-table.ts";
import { openApi } from "./open-api.ts";
import { presentMoney } from "./present-money.ts";
import { chooseDestination } from "./save-outputs.ts";
import { sendFile } from "./send-file.ts";
import type { TaskAnswer } from "./task-answer.ts";

const listTakers = ["files", "characters", "references", "pairs"];

export const mediaCommands: readonly CommandDefinition[] = mediaTable.map((definition) => ({
  name: definition.type,
  summary: definition.summary,
  details: `On a terminal, the command waits, shows the progress and downloads the result. Ctrl-C cancels the task. Local files
are uploaded first. Text arguments also accept @file, or - for standard input.`,
  ...(definition.words === null
    ? {}
    : { words: { shown: definition.words.shown, min: 0, max: Number.POSITIVE_INFINITY } }),
  options: listOptions(definition),
  examples: definition.examples,
  run: (input) => makeMedia(definition, input),
}));

function listOptions({ fields, type }: MediaDefinition): OptionTable {
  const own = Object.entries(fields).map(([name, rule]) => [name, toOption(rule)] as const);
  return {
    model: { placeholder: "id", short: "m", explains: `The model. Default: the first ${type} model.` },
    ...Object.fromEntries(own),
    ...outcomeOptions,
    "keep-on-interrupt": { explains: "Ctrl-C leaves the task running." },
    "idempotency-key": {
      placeholder: "key",
      explains: "Repeating a request with the same key within a day returns the same task. Default: a new key.",
    },
  };
}

function toOption({ takes, placeholder, explains, choices }: FieldRule): OptionDefinition {
  return {
    explains,
    ...(placeholder === undefined ? {} : { placeholder }),
    ...(choices === undefined ? {} : { choices }),
    ...(listTakers.includes(takes) ? { isList: true } : {}),
  };
}

async function makeMedia(definition: MediaDefinition, input: CommandInput): Promise<ExitCode> {
  const { options, terminal, interruption } = input;
  if (options.has("wait") && options.has("no-wait")) throw createMisuse("Use either --wait or --no-wait, not both.");
  const doesWait = options.has("wait") || options.text("output") !== undefined || terminal.isOutputTerminal;
  const isWaiting = doesWait && !options.has("no-wait");
  const doesForce = options.has("force");
  const destination = await chooseDestination(options.text("output"), doesForce);
  const { api, body } = await prepareRequest(definition, input);
  const context = { api, terminal, interruption };
  const task = await submit(definition, body, { ...input, api, isWaiting });
  if (!isWaiting) {
    if (terminal.isJson) terminal.printJson(task);
    else terminal.print(task.id);
    return interruption.signal.aborted ? await leave(task.id, input, api) : exitCodes.done;
  }
  const { estimated_charge: most } = task.usage;
  if (most !== undefined && !terminal.isJson) {
    terminal.tell(`${task.id} costs at most ${await presentMoney(most, api)}.`);
  }
  const ended = await waitForTask(task.id, context);
  if (ended === null) return await leave(task.id, input, api);
  return await concludeTask(ended, { destination, doesForce }, context);
}

/** Validates all arguments before it loads the key, and loads the key before it uploads files. */
async function prepareRequest(
  definition: MediaDefinition,
  input: CommandInput,
): Promise<{ api: ApiClient; body: RequestBody }> {
  const { options, terminal, interruption } = input;
  const { signal } = interruption;
  let api: ApiClient | null = null;
  const asked = await buildRequest(definition, input, async () => {
    const signedIn = (await openApi(input)).api;
    api = signedIn;
    return async (path) => {
      terminal.tell(`Uploading ${path} …`);
      return await sendFile(signedIn, path, signal);
    };
  });
  const client = api ?? (await openApi(input)).api;
  const model = await chooseModel(client, { given: options.text("model"), type: definition.type, signal });
  const body = { model, ...asked };
  if (definition.type !== "speech" || "voice" in asked) return { api: client, body };
  return { api: client, body: { ...body, voice: await chooseVoice(client, model, signal) } };
}

async function chooseVoice(api: ApiClient, model: string, signal: AbortSignal): Promise<string> {
  const path = `/models/${encodeURIComponent(model)}`;
  const { limits } = await api.ask<{ limits?: { voices?: string[] } }>({ method: "GET", path, signal });
  const [first] = limits?.voices ?? [];
  if (first === undefined) throw createMisuse(`${model} lists no voices. Choose one with --voice.`);
  return first;
}

/** Ignores Ctrl-C, because canceling needs the task's id. The idempotency key makes retries safe. */
async function submit(
  { path }: MediaDefinition,
  body: RequestBody,
  { api, options, isWaiting }: CommandInput & { api: ApiClient; isWaiting: boolean },
): Promise<TaskAnswer> {
  const key = options.text("idempotency-key") ?? randomUUID();
  // Without `respond-async`, speech would return audio directly instead of a task.
  const headers = { "idempotency-key": key, prefer: "respond-async" };
  const call: Call = { method: "POST", path, json: body, headers, isRepeatable: true };
  try {
    return await api.ask<TaskAnswer>(call);
  } catch (error) {
    if (isWaiting && error instanceof ApiError && error.code === "webhook_required")
      return await submitHeard(api, call);
    if (error instanceof ApiError || !(error instanceof CliError)) throw error;
    const remedy = `The server may have created the task. To retry safely, add --idempotency-key ${key}`;
    throw new CliError(error.message, { remedy, cause: error });
  }
}

/** Dramas need a webhook endpoint; a temporary webhook session counts as one. */
async function submitHeard(api: ApiClient, call: Call): Promise<TaskAnswer> {
  const session = await api.ask<{ id: string }>({ method: "POST", path: "/webhook_sessions" });
  try {
    return await api.ask<TaskAnswer>(call);
  } finally {
    await api.ask({ method: "DELETE", path: `/webhook_sessions/${session.id}` }).catch(() => {});
  }
}

async function leave(id: string, input: CommandInput, api: ApiClient): Promise<ExitCode> {
  if (!input.options.has("keep-on-interrupt")) return await cancelInterrupted(id, { ...input, api });
  input.terminal.complain(`${id} continues. Later: sluice tasks wait ${id}`);
  return exitCodes.interrupted;
}
