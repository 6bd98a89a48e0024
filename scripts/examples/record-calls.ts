import { setTimeout } from "node:timers/promises";
import { drawPortrait } from "../../test/harness/media/portrait.ts";
import type { ExampleRecorder } from "./example-recorder.ts";

type Named = { id: string };
type Task = Named & { status: string; output: { file_id: string }[] };
type Listed<Item> = { data: Item[] };

const pauseMs = 100;

const wait = { headers: { prefer: "wait=60" } } as const;

/** Calls every operation at least once, in the order of their dependencies. */
export async function recordCalls(recorder: ExampleRecorder, { receiverUrl }: { receiverUrl: string }): Promise<void> {
  const endpoint = await recordEndpoint(recorder, receiverUrl);
  await recordCatalog(recorder);
  await recordQuote(recorder);
  await recordChat(recorder);
  await recordResponses(recorder);
  await recordConversations(recorder);
  const task = await recordMedia(recorder);
  await recordTasks(recorder, task);
  await recordDeliveries(recorder, endpoint, task);
  await recordBooks(recorder);
  await recordRequests(recorder);
}

async function recordCatalog({ record }: ExampleRecorder): Promise<void> {
  await record("listModels");
  await record("getModel", { path: { model_id: "sandbox-chat" } });
  await record("listPrices");
}

async function recordQuote({ record }: ExampleRecorder): Promise<void> {
  await record("createQuote", { body: { path: "/chat/completions", request: chat } });
}

const question = { role: "user", content: "What does a sluice do?" };
const chat = { model: "sandbox-chat", messages: [question], max_tokens: 200 };
const briefly = { stream: true, max_tokens: 4 };

async function recordChat({ record }: ExampleRecorder): Promise<void> {
  await record("createChatCompletion", { body: chat });
  await record("createChatCompletion", { body: { ...chat, ...briefly }, isVariant: true });
  const completion = { model: "sandbox-chat", prompt: "A sluice is", max_tokens: 16 };
  await record("createCompletion", { body: completion });
  await record("createCompletion", { body: { ...completion, ...briefly }, isVariant: true });
  await record("createMessage", { body: chat });
  await record("createMessage", { body: { ...chat, ...briefly }, isVariant: true });
  await record("countMessageTokens", { body: { model: chat.model, messages: chat.messages } });
  const input = ["The gate is open.", "The door is not shut."];
  await record("createEmbedding", { body: { model: "sandbox-embedding", input } });
}

async function recordResponses({ record, call }: ExampleRecorder): Promise<void> {
  const body = { model: "sandbox-chat", input: "What does a sluice do?" };
  const streamedBriefly = { ...body, stream: true, max_output_tokens: 16 };
  const response = await record<Named>("createResponse", { body });
  await record("createResponse", { body: streamedBriefly, isVariant: true });
  await record("countInputTokens", { body });
  await record("compactResponse", { body: { model: body.model, previous_response_id: response.id } });
  const path = { response_id: response.id };
  await record("getResponse", { path });
  await record("listInputItems", { path });
  const input = "[[delay:60]] Count to a hundred.";
  const slow = await call<Named>("createResponse", { body: { ...body, input, background: true } });
  await record("cancelResponse", { path: { response_id: slow.id } });
  const events = await call<string>("createResponse", { body: { ...streamedBriefly, background: true } });
  const streamed = { response_id: /resp_\w+/.exec(events)?.[0] ?? "" };
  await record("getResponse", { path: streamed, query: { stream: "true" }, isVariant: true });
  await record("deleteResponse", { path });
}

async function recordConversations({ record }: ExampleRecorder): Promise<void> {
  const conversation = await record<Named>("createConversation");
  const path = { conversation_id: conversation.id };
  await record("getConversation", { path });
  await record("updateConversation", { path });
  const items = await record<Listed<Named>>("createConversationItems", { path });
  await record("listConversationItems", { path });
  const item = { ...path, item_id: items.data[0]?.id ?? "" };
  await record("getConversationItem", { path: item });
  await record("deleteConversationItem", { path: item });
  await record("deleteConversation", { path });
}

/** Records images, videos, speech and dependent media. Returns the image's task. */
async function recordMedia(recorder: ExampleRecorder): Promise<Task> {
  const { record, call } = recorder;
  const portrait = {
    name: "portrait.png",
    bytes: new Blob([Uint8Array.from(await drawPortrait(512, 512))], { type: "image/png" }),
  };
  const uploaded = await record<Named>("createFile", { body: { purpose: "generation" }, files: { file: portrait } });
  await record("listFiles");
  await record("getFile", { path: { file_id: uploaded.id } });
  await record("getFileContent", { path: { file_id: uploaded.id } });

  const image = { model: "sandbox-image", prompt: "A lighthouse at dusk", size: "512x512" };
  const task = await record<Task>("createImage", { body: image, ...wait });
  await record("createImage", { body: image, isVariant: true });
  const edit = { model: "sandbox-image", prompt: "The same at night" };
  await record("editImage", { body: edit, files: { image: [portrait] }, ...wait });
  await record("editImage", {
    body: edit,
    files: { image: [portrait] },
    headers: { prefer: "respond-async" },
    isVariant: true,
  });
  const video = { model: "sandbox-video", prompt: "Waves roll in at night", duration: 5, aspect_ratio: "16:9" };
  await record("createVideo", { body: video, ...wait });
  await record("createVideo", { body: video, isVariant: true });

  const speech = { model: "sandbox-speech", input: "The gate is open.", voice: "alloy" };
  const spoken = await record<Blob>("createSpeech", { body: speech });
  await record("createSpeech", { body: speech, headers: { prefer: "respond-async" }, isVariant: true });
  await record("createSpeech", { body: { ...speech, stream_format: "sse" }, eventsMax: 1, isVariant: true });
  const recording = { name: "recording.mp3", bytes: spoken };
  const voice = await call<Named>("createFile", { body: { purpose: "generation" }, files: { file: recording } });
  const avatar = { model: "sandbox-avatar", avatar_file_id: uploaded.id, audio_file_id: voice.id };
  await record("createAvatar", { body: avatar, ...wait });
  await record("createAvatar", { body: avatar, isVariant: true });
  await recordTranscripts(recorder, recording);

  const script = "INT. LIGHTHOUSE - NIGHT\n\nANNA\nThe lamp is out. Somebody has to climb up.";
  const drama = { model: "sandbox-drama", title: "The Lighthouse", script, stage: "script" };
  const { output } = await record<{ output: { file_id: string }[] }>("createDrama", { body: drama, ...wait });
  await record("getFileContent", { path: { file_id: output[0]?.file_id ?? "" }, isVariant: true });
  await record("createDrama", { body: drama, isVariant: true });
  const film = await call<Named>("createDrama", { body: { ...drama, stage: "video" }, ...wait });
  const shot = { path: { task_id: film.id, shot_number: "1" }, body: { prompt: "The lamp flickers and goes out." } };
  await record("createDramaShot", { ...shot, ...wait });
  await record("createDramaShot", { ...shot, isVariant: true });
  await record("deleteFile", { path: { file_id: uploaded.id } });
  return task;
}

type Recording = { name: string; bytes: Blob };

async function recordTranscripts({ record }: ExampleRecorder, file: Recording): Promise<void> {
  for (const operation of ["createTranscription", "createTranslation"]) {
    const body = { model: "sandbox-transcription" };
    await record(operation, { body, files: { file } });
    await record(operation, { body: { ...body, response_format: "text" }, files: { file }, isVariant: true });
    if (operation === "createTranslation") continue;
    await record(operation, { body: { ...body, stream: "true" }, files: { file }, isVariant: true });
  }
}

async function recordTasks({ record, call }: ExampleRecorder, task: Task): Promise<void> {
  const path = { task_id: task.id };
  await record("getTask", { path });
  await record("listTasks", { query: { type: "image", limit: "2" } });
  await record("countTasks");
  await record("getTaskRequest", { path });
  await record("streamTaskEvents", { path });
  const slow = await call<Named>("createImage", {
    body: { model: "sandbox-image", prompt: "[[delay:60]] A lighthouse" },
  });
  await record("cancelTask", { path: { task_id: slow.id } });
}

async function recordEndpoint({ record }: ExampleRecorder, receiverUrl: string): Promise<string> {
  const body = { url: `${receiverUrl}/hooks/sluice`, description: "Production", event_types: [] };
  const { id } = await record<Named>("createWebhookEndpoint", { body });
  return id;
}

async function recordDeliveries({ record, call }: ExampleRecorder, id: string, task: Task): Promise<void> {
  await record("listWebhookEndpoints");
  await record("getWebhookEndpoint", { path: { id } });
  await record("updateWebhookEndpoint", { path: { id }, body: { event_types: ["task.succeeded", "task.failed"] } });
  await record("rotateWebhookEndpointSecret", { path: { id } });
  const session = await record<Named>("createWebhookSession");
  const heard = record("streamWebhookSession", { path: { id: session.id }, eventsMax: 1 });
  await record("testWebhookEndpoint", { path: { id } });
  await call("createImage", { body: { model: "sandbox-image", prompt: "A boat", size: "512x512" }, ...wait });
  await heard;
  await record("deleteWebhookSession", { path: { id: session.id } });
  await waitForDeliveries(() => call("listEndpointDeliveries", { path: { id } }));
  await record("listEndpointDeliveries", { path: { id } });
  const events = await record<Listed<Named & { data: { id?: string } }>>("listEvents");
  const event = events.data.find(({ data }) => data.id === task.id) ?? events.data.at(-1);
  const path = { id: event?.id ?? "" };
  await record("listEventDeliveries", { path });
  await record("resendEvent", { path });
  await record("getWebhookSecret");
  await record("rotateWebhookSecret");
  await record("deleteWebhookEndpoint", { path: { id } });
}

/** Polls until no delivery is pending. */
async function waitForDeliveries(list: () => Promise<Listed<{ status: string }>>): Promise<void> {
  while ((await list()).data.some(({ status }) => status === "pending")) await setTimeout(pauseMs);
}

async function recordBooks({ record, call }: ExampleRecorder): Promise<void> {
  await record("getBalance");
  await record("listBuckets");
  const held = await call<Named>("createImage", { body: { model: "sandbox-image", prompt: "[[delay:60]] A gate" } });
  await record("listHolds");
  await call("cancelTask", { path: { task_id: held.id } });
  await record("getUsage");
  await record("getUsage", { query: { format: "csv" }, isVariant: true });
  const charges = await record<Listed<Named>>("listCharges");
  await record("getCharge", { path: { charge_id: charges.data[0]?.id ?? "" } });
  await record("listLedgerEntries");
  await record("listLedgerEntries", { query: { format: "csv" }, isVariant: true });
}

async function recordRequests({ record }: ExampleRecorder): Promise<void> {
  const requests = await record<Listed<Named>>("listRequests", { query: { wire: "chat" } });
  await record("summarizeRequests");
  await record("exportRequests");
  const path = { request_id: requests.data[0]?.id ?? "" };
  await record("getRequest", { path });
  await record("getRequestContent", { path });
  await record("deleteRequestContent", { path });
}
